#include "cli/bench/feed_bench.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/percentile.h"
#include "cli/base/process_usage.h"
#include "cli/base/progress.h"
#include "cli/client/connection.h"
#include "cli/client/feed_client.h"

namespace sluice {
namespace {

constexpr std::string_view kTaskPrefix = "task-";
constexpr int64_t kWaitUs = 1000000;
// After this many waits without news nothing more will come.
constexpr int kWaitsMax = 20;

class FeedBench {
 public:
  FeedBench(const CommandContext& context, const BenchWorkload& workload)
      : context_(context),
        workload_(workload),
        tasks_(static_cast<size_t>(workload.task_count())) {
    Connect();
  }

  absl::Status AddMachines() {
    const int64_t started_us = Now();
    client_->Add()->mutable_begin_snapshot();
    RETURN_IF_ERROR(StateMachines());
    client_->Add()->mutable_end_snapshot();
    RETURN_IF_ERROR(Settle());
    adding_us_ = durable_us_ - started_us;
    return absl::OkStatus();
  }

  absl::Status PlaceFillers() {
    return PlaceRange(0, workload_.filler_count());
  }

  // Places the other tasks, and times that.
  absl::Status PlaceTasks() {
    ASSIGN_OR_RETURN(rounds_before_, CountRounds());
    const int64_t cpu_before_us = GetProcessUsage().cpu_us;
    RETURN_IF_ERROR(
        PlaceRange(workload_.filler_count(), workload_.task_count()));
    cpu_us_ = GetProcessUsage().cpu_us - cpu_before_us;
    ASSIGN_OR_RETURN(const uint64_t rounds, CountRounds());
    rounds_ = rounds - rounds_before_;
    return absl::OkStatus();
  }

  // Times single tasks, one after the other, on a cluster otherwise idle.
  absl::Status TimeSingleTasks(int64_t count) {
    Progress progress(context_, "tasks timed", count);
    for (int64_t i = 0; i < count; ++i) {
      const std::string id = StrCat("single-", i);
      const int64_t before = placed_;
      const int64_t started_us = Now();
      v1::TaskStated* task = client_->Add()->mutable_task();
      task->set_id(id);
      // It asks for nothing, so that it fits beside all others.
      task->mutable_description()->mutable_task_descriptor()->set_job_id(id);
      if (!client_->Flush()) return Ended();
      while (placed_ == before) RETURN_IF_ERROR(Wait());
      latency_us_.push_back(placed_us_ - started_us);
      client_->Add()->mutable_task_gone()->set_id(id);
      RETURN_IF_ERROR(Settle());
      placed_ = before;
      progress.Show(i);
    }
    return absl::OkStatus();
  }

  // Does what a client does that comes back to a daemon which knows everything.
  absl::Status Resync() { return StateAll(&resync_us_); }

  // Does what a client does that comes to a daemon which knows nothing.
  absl::Status FillEmpty() {
    for (Task& task : tasks_) task.place.clear();
    RETURN_IF_ERROR(StateAll(&filling_us_));
    return Empty();
  }

  absl::Status RemoveAll() {
    const int64_t started_us = Now();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].is_victim) RETURN_IF_ERROR(RemoveTask(i));
    }
    RETURN_IF_ERROR(Settle());
    removing_us_ = durable_us_ - started_us;
    return Empty();
  }

  Report MakeReport() const {
    const BenchSize& size = workload_.size();
    Report report;
    report.AddText({"profile", "profile"}, workload_.profile().name);
    report.AddCount({"machines", "machines"}, size.machine_count);
    report.AddCount({"tasks", "tasks"}, size.task_count);
    report.AddCount({"classes", "classes"}, size.class_count);
    report.AddRate({"machines_per_s", "machines durable"}, size.machine_count,
                   adding_us_);
    report.AddRate({"events_per_s", "tasks durable"}, size.task_count,
                   stating_us_);
    report.AddMicroseconds({"placing_us", "first event to last delta"},
                           placing_us_);
    report.AddRate({"tasks_per_s", "tasks placed"}, size.task_count,
                   placing_us_);
    report.AddCount({"rounds", "rounds"}, static_cast<int64_t>(rounds_));
    if (workload_.profile().Preempts()) {
      report.AddCount({"fillers", "tasks that filled the machines"},
                      workload_.filler_count());
      report.AddCount({"victims", "stopped"}, victims_);
      report.AddMicroseconds(
          {"nominating_us", "first event to last nomination"},
          nominated_us_ - started_us_);
    }
    report.AddMicroseconds({"client_cpu_us", "sluicectl's processor time"},
                           cpu_us_);
    if (resync_us_ > 0) {
      report.AddMicroseconds({"resync_us", "all stated anew"}, resync_us_);
    }
    if (filling_us_ > 0) {
      // The machines, the tasks, and the snapshot's begin and end.
      report.AddRate({"fill_events_per_s", "stated to an empty daemon"},
                     size.machine_count + left_count() + 2, filling_us_);
    }
    if (!latency_us_.empty()) {
      const auto add = [&](std::string_view key, std::string_view label,
                           int percent) {
        report.AddMicroseconds({key, label}, Percentile(latency_us_, percent));
      };
      add("latency_p50_us", "event to delta p50", 50);
      add("latency_p90_us", "event to delta p90", 90);
      add("latency_p99_us", "event to delta p99", 99);
      add("latency_max_us", "event to delta max", 100);
    }
    if (removing_us_ > 0) {
      report.AddRate({"removals_per_s", "tasks removed"}, left_count(),
                     removing_us_);
    }
    return report;
  }

 private:
  struct Task {
    std::string place;       // Empty: not placed yet.
    bool is_victim = false;  // Stopped, and so gone.
  };

  static std::string TaskId(size_t index) { return StrCat(kTaskPrefix, index); }
  std::optional<size_t> IndexOf(std::string_view id) const {
    if (!id.starts_with(kTaskPrefix)) return std::nullopt;
    id.remove_prefix(kTaskPrefix.size());
    size_t index = 0;
    const auto [end, error] =
        std::from_chars(id.data(), id.data() + id.size(), index);
    if (error != std::errc() || index >= tasks_.size()) return std::nullopt;
    return index;
  }
  // How many tasks were not stopped.
  int64_t left_count() const { return workload_.task_count() - victims_; }
  int64_t Now() const { return context_.clock.MonotonicUs(); }

  void Connect() {
    client_.emplace(context_, "bench");
    durable_ = 0;
  }

  absl::StatusOr<uint64_t> CountRounds() const {
    ASSIGN_OR_RETURN(const v1::Status status,
                     Connection(context_.options).GetStatus());
    return status.last_round().number();
  }

  // States the tasks from `first` to before `end` and waits until all are
  // placed.  The first are placed while later ones are still being stated.
  absl::Status PlaceRange(int64_t first, int64_t end) {
    Progress progress(context_, "tasks stated", end - first);
    awaited_ = end - first;
    placed_ = 0;
    started_us_ = Now();
    for (int64_t i = first; i < end; ++i) {
      RETURN_IF_ERROR(StateTask(static_cast<size_t>(i)));
      progress.Show(i - first);
    }
    RETURN_IF_ERROR(Settle());
    stating_us_ = durable_us_ - started_us_;
    while (placed_ < awaited_) RETURN_IF_ERROR(Wait());
    placing_us_ = placed_us_ - started_us_;
    return absl::OkStatus();
  }

  absl::Status RemoveTask(size_t index) {
    client_->Add()->mutable_task_gone()->set_id(TaskId(index));
    return client_->FlushIfFull() ? absl::OkStatus() : Ended();
  }

  absl::Status StateAll(int64_t* took_us) {
    client_.reset();
    Connect();
    const int64_t started_us = Now();
    client_->Add()->mutable_begin_snapshot();
    RETURN_IF_ERROR(StateMachines());
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].is_victim) RETURN_IF_ERROR(StateTask(i));
    }
    client_->Add()->mutable_end_snapshot();
    RETURN_IF_ERROR(Settle());
    *took_us = durable_us_ - started_us;
    return absl::OkStatus();
  }

  absl::Status Empty() {
    client_->Add()->mutable_begin_snapshot();
    client_->Add()->mutable_end_snapshot();
    return Settle();
  }

  absl::Status StateMachines() {
    const int64_t count = workload_.size().machine_count;
    for (int64_t i = 0; i < count; ++i) {
      workload_.DescribeMachine(i, client_->Add()->mutable_machine());
      if (!client_->FlushIfFull()) return Ended();
    }
    return absl::OkStatus();
  }

  absl::Status StateTask(size_t index) {
    v1::TaskStated* task = client_->Add()->mutable_task();
    task->set_id(TaskId(index));
    task->set_runs_on(tasks_[index].place);
    workload_.DescribeTask(static_cast<int64_t>(index),
                           task->mutable_description());
    if (client_->added() % 256 == 0) {
      RETURN_IF_ERROR(TakeNews(client_->Take(0)));
    }
    return client_->FlushIfFull() ? absl::OkStatus() : Ended();
  }

  // Waits until all that was added so far is durable.
  absl::Status Settle() {
    if (!client_->Flush()) return Ended();
    const uint64_t last = client_->sequence();
    while (durable_ < last) RETURN_IF_ERROR(Wait());
    return absl::OkStatus();
  }

  // Waits for news and takes it.
  absl::Status Wait() {
    for (int waits = 0; waits < kWaitsMax; ++waits) {
      const FeedClient::News news = client_->Take(kWaitUs);
      if (news.arrived_us == 0 && !news.has_ended) {
        RETURN_IF_ERROR(CheckPreempts());
        continue;
      }
      RETURN_IF_ERROR(TakeNews(news));
      if (news.has_ended) return Ended();
      if (!news.problems.empty()) {
        return absl::InternalError(news.problems[0].message());
      }
      return client_->Flush() && client_->Confirm() ? absl::OkStatus()
                                                    : Ended();
    }
    return absl::InternalError(StrCat(
        awaited_ - placed_,
        " tasks were not placed, although all fit, and no more news came"));
  }

  // Errors: kFailedPrecondition if the daemon would have to stop tasks to make
  // room and does not.
  absl::Status CheckPreempts() const {
    if (!workload_.profile().Preempts() || victims_ > 0) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const v1::Status status,
                     Connection(context_.options).GetStatus());
    const v1::Round& round = status.last_round();
    if (round.number() <= rounds_before_ || round.pending() == 0 ||
        round.nominated() > 0 || placed_ == awaited_) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        StrCat(round.pending(),
               " tasks wait and the daemon stops no others for them: run it "
               "with --preemption=priority"));
  }

  absl::Status TakeNews(const FeedClient::News& news) {
    if (news.events_durable != durable_) durable_us_ = news.arrived_us;
    durable_ = news.events_durable;
    if (std::ranges::any_of(news.nominations, [](const auto& nomination) {
          return !nomination.machine().empty();
        })) {
      nominated_us_ = news.arrived_us;
    }
    for (const v1::FeedDelta& delta : news.deltas) {
      const std::optional<size_t> index = IndexOf(delta.task());
      if (delta.type() == v1::FeedDelta::PLACE) {
        ++placed_;
        placed_us_ = news.arrived_us;
        if (index.has_value()) tasks_[*index].place = delta.machine();
      } else if (index.has_value() && !tasks_[*index].is_victim) {
        tasks_[*index].is_victim = true;
        ++victims_;
        RETURN_IF_ERROR(RemoveTask(*index));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Ended() {
    FeedClient::News rest;
    const absl::Status status = client_->Close(&rest);
    return status.ok() ? absl::UnavailableError("the call has ended") : status;
  }

  const CommandContext& context_;
  const BenchWorkload& workload_;
  std::optional<FeedClient> client_;
  std::vector<Task> tasks_;
  uint64_t durable_ = 0;
  int64_t durable_us_ = 0;  // When `durable_` last changed.
  int64_t awaited_ = 0;     // How many tasks are to be placed,
  int64_t placed_ = 0;      // and how many of them are.
  int64_t placed_us_ = 0;
  int64_t victims_ = 0;
  int64_t nominated_us_ = 0;
  uint64_t rounds_before_ = UINT64_MAX;  // Until PlaceTasks() begins.

  int64_t started_us_ = 0;
  uint64_t rounds_ = 0;
  int64_t cpu_us_ = 0;
  int64_t adding_us_ = 0;
  int64_t stating_us_ = 0;
  int64_t placing_us_ = 0;
  int64_t resync_us_ = 0;
  int64_t filling_us_ = 0;
  int64_t removing_us_ = 0;
  std::vector<int64_t> latency_us_;
};

}  // namespace

absl::StatusOr<Report> RunFeedBench(const CommandContext& context,
                                    const BenchWorkload& workload,
                                    const FeedBenchOptions& options) {
  FeedBench bench(context, workload);
  RETURN_IF_ERROR(bench.AddMachines());
  RETURN_IF_ERROR(bench.PlaceFillers());
  RETURN_IF_ERROR(bench.PlaceTasks());
  if (options.resyncs) RETURN_IF_ERROR(bench.Resync());
  RETURN_IF_ERROR(bench.TimeSingleTasks(options.latency_count));
  if (options.keeps) return bench.MakeReport();
  RETURN_IF_ERROR(bench.RemoveAll());
  if (options.resyncs) RETURN_IF_ERROR(bench.FillEmpty());
  return bench.MakeReport();
}

}  // namespace sluice
