#include "util/mixed_day.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kSlots = 4;  // Of a machine.
constexpr int64_t kCores = 4'000;

class MixedDay {
 public:
  explicit MixedDay(const MixedDayOptions& options)
      : options_(options),
        rng_(options.seed),
        scheduler_(RoundOptions(), options.policies) {
    for (int64_t i = 0; i < options.machines; ++i) {
      scheduler_.Apply(Added(StrCat("m", i), {.cpu = kSlots * kCores}));
    }
  }

  MixedDayResult Run() {
    MixedDayResult result;
    const int64_t end = options_.hours * 60;
    for (int64_t minute = 0; minute < end || !lives_.empty(); ++minute) {
      Complete(minute, &result);
      if (minute < end) Submit(minute);
      scheduler_.Round(minute * kMinuteMs);
      scheduler_.Deliver();
    }
    for (MixedDayResult::Kind& kind : result.kinds) {
      result.completed += kind.completed;
      result.mean_completion += kind.mean_completion;
      kind.mean_completion /=
          static_cast<double>(std::max<int64_t>(kind.completed, 1));
    }
    result.mean_completion /=
        static_cast<double>(std::max<int64_t>(result.completed, 1));
    return result;
  }

 private:
  struct Life {
    size_t kind = 0;
    int64_t minutes = 0;  // That it runs for.
    int64_t submitted = 0;
  };

  void Complete(int64_t minute, MixedDayResult* result) {
    for (auto it = lives_.begin(); it != lives_.end();) {
      const auto& [uid, life] = *it;
      const Task& task = scheduler_.TaskOf(uid);
      const int64_t placed = task.placed_ms / kMinuteMs;
      if (task.state != TaskState::kRunning || minute - placed < life.minutes) {
        ++it;
        continue;
      }
      MixedDayResult::Kind& kind = result->kinds.at(life.kind);
      ++kind.completed;
      kind.mean_completion += static_cast<double>(minute - life.submitted);
      kind.longest_wait = std::max(kind.longest_wait, placed - life.submitted);
      scheduler_.Apply(Completed(uid), minute * kMinuteMs);
      scheduler_.Apply(Removed(uid), minute * kMinuteMs);
      it = lives_.erase(it);
    }
  }

  void Submit(int64_t minute) {
    for (size_t kind = 0; kind < kDayKinds; ++kind) {
      // In 30,000ths of a task: of as many slots as are asked for, a third.
      constexpr int64_t kWhole = 30'000;
      const int64_t rate = options_.machines * kSlots * options_.load_percent *
                           (kWhole / 300) / kDayRunMinutes.at(kind);
      const bool is_one_more = rng_.Chance(static_cast<uint64_t>(rate % kWhole),
                                           static_cast<uint64_t>(kWhole));
      for (int64_t i = rate / kWhole + (is_one_more ? 1 : 0); i > 0; --i) {
        const int64_t usual = kDayRunMinutes.at(kind);
        const uint64_t uid = ++last_uid_;
        lives_[uid] = {kind, rng_.Between(usual * 4 / 5, usual * 6 / 5),
                       minute};
        scheduler_.Apply(Submitted(uid, {.cpu = kCores,
                                         .job = StrCat("j", uid % 50),
                                         .binary = StrCat("/bin/", usual)}),
                         minute * kMinuteMs);
      }
    }
  }

  const MixedDayOptions options_;
  Rng rng_;
  TestScheduler scheduler_;
  std::map<uint64_t, Life> lives_;  // By uid.
  uint64_t last_uid_ = 0;
};

}  // namespace

MixedDayResult RunMixedDay(const MixedDayOptions& options) {
  return MixedDay(options).Run();
}

}  // namespace sluice
