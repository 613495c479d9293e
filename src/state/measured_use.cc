#include "state/measured_use.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/int128.h"
#include "state/cluster_state.h"

namespace sluice {
namespace {

constexpr int64_t kMillion = 1'000'000;
// Amounts are rounded down to steps of 1/kSteps of what the machine offers, so
// that machines stay alike, and unchanged, if use hardly differs.
constexpr int64_t kSteps = 100;

int64_t PartOf(int64_t amount, int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(static_cast<Int128>(amount) * numerator /
                              denominator);
}

int64_t RoundedDown(int64_t amount, int64_t step) {
  const int64_t rest = amount % step;
  return amount - (rest < 0 ? rest + step : rest);
}

// The larger of the newest and the mean of the newest `count`.
int64_t SmoothedPpm(const UsageHistory& usage, int64_t count,
                    int64_t MachineUsage::*ppm) {
  int64_t sum = 0;
  auto sample = usage.samples().rbegin();
  for (int64_t i = 0; i < count; ++i) sum += (*sample++).*ppm;
  return std::max(sum / count, usage.samples().back().*ppm);
}

}  // namespace

Resources MeasuredUse::RequestsBefore(int64_t since_ms,
                                      const Machine& machine) const {
  Resources requests;
  for (const auto& [name, request] : machine.foreign_pods) requests += request;
  for (const TaskId id : machine.tasks) {
    const Task& task = *state_.FindTask(id);
    // A task that no client knows of was not measured, whatever the clock says,
    // and may still be taken back.
    if (task.placed_ms < since_ms && !state_.IsUntold(id)) {
      requests += task.class_key.request;
    }
  }
  return requests;
}

ResourceSaid MeasuredUse::Measure(const Machine& machine,
                                  ResourceIndex resource,
                                  const Resources& older) const {
  const int64_t ppm = SmoothedPpm(
      machine.usage, options_.samples,
      resource == kCpu ? &MachineUsage::cpu_ppm : &MachineUsage::memory_ppm);
  const int64_t all =
      std::max(machine.capacity[resource], machine.allocatable[resource]);
  const int64_t used = PartOf(all, ppm, kMillion);
  const int64_t asked = older[resource];
  ResourceSaid said{.asked = asked, .unneeded = 0, .excess = 0};
  if (used > asked) {
    said.excess = std::max<int64_t>(used - machine.used[resource], 0);
  } else {
    const int64_t floor = PartOf(asked, options_.floor_percent, 100);
    said.unneeded = asked - std::max(used, floor);
  }
  return said;
}

bool MeasuredUse::Add(const MachineUsage& sample, Machine* machine) {
  NoteExpired(machine);
  machine->usage.Add(sample, options_.kept_samples);
  current_.insert({sample.at_ms, machine->id});
  const auto& samples = machine->usage.samples();
  if (!options_.is_on || std::ssize(samples) < options_.samples) return false;
  SamplesSaid measured;
  measured.since_ms =
      samples[samples.size() - static_cast<size_t>(options_.samples)].at_ms;
  const Resources older = RequestsBefore(measured.since_ms, *machine);
  measured.cpu = Measure(*machine, kCpu, older);
  measured.memory = Measure(*machine, kMemory, older);
  measured_[machine->id] = measured;
  return NoteLoad(machine);
}

bool MeasuredUse::NoteLoad(Machine* machine) {
  const auto it = measured_.find(machine->id);
  if (it == measured_.end()) return false;
  const SamplesSaid& measured = it->second;
  const Resources older = RequestsBefore(measured.since_ms, *machine);
  const auto amount = [&](ResourceIndex i, const ResourceSaid& of) {
    const int64_t offered = machine->allocatable[i];
    const int64_t most =
        PartOf(offered, options_.overcommit_percent - 100, 100);
    const int64_t unneeded =
        of.asked == 0 ? 0 : PartOf(older[i], of.unneeded, of.asked);
    return RoundedDown(std::min(unneeded, most) - of.excess,
                       std::max<int64_t>(offered / kSteps, 1));
  };
  Resources reclaimed;
  reclaimed.Set(kCpu, amount(kCpu, measured.cpu));
  reclaimed.Set(kMemory, amount(kMemory, measured.memory));
  return SetReclaimed(reclaimed, true, machine);
}

void MeasuredUse::NoteExpired(Machine* machine) {
  const MachineUsage* sample = machine->usage.Current();
  if (sample == nullptr) return;
  current_.erase({sample->at_ms, machine->id});
  machine->usage.Expire();
}

bool MeasuredUse::Drop(Machine* machine) {
  NoteExpired(machine);
  measured_.erase(machine->id);
  return SetReclaimed({}, false, machine);
}

std::vector<MachineId> MeasuredUse::FindStale(int64_t now_ms) const {
  std::vector<MachineId> stale;
  for (const auto& [at_ms, id] : current_) {
    if (now_ms - at_ms <= options_.stale_ms) break;
    stale.push_back(id);
  }
  // Samples from the future: the clock was set back.
  for (const auto& [at_ms, id] : current_ | std::views::reverse) {
    if (at_ms <= now_ms) break;
    stale.push_back(id);
  }
  return stale;
}

bool MeasuredUse::SetReclaimed(const Resources& reclaimed, bool is_measured,
                               Machine* machine) const {
  if (machine->is_measured == is_measured && machine->reclaimed == reclaimed) {
    return false;
  }
  machine->is_measured = is_measured;
  machine->reclaimed = reclaimed;
  return true;
}

}  // namespace sluice
