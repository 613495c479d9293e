#include "integration/lasting_feed.h"

#include <set>
#include <thread>

#include "base/strings.h"
#include "integration/lasting_calls.h"

namespace sluice {
namespace {

constexpr int64_t kListMs = 700;
constexpr int64_t kBetweenConnectionsUs = 10'000;
constexpr int64_t kBetweenStepsUs = 5'000;
constexpr int64_t kBetweenLooksUs = 10'000;

constexpr size_t kTasksMax = 60;
constexpr size_t kLargeMachines = 12;

}  // namespace

LastingFeed::LastingFeed(const ReplicaGroup& group, AnswerLog& answers,
                         uint64_t seed)
    : group_(group), answers_(answers), rng_(seed) {
  for (const int port : group.ports()) {
    clients_.push_back(std::make_unique<Client>(ConnectEagerly(port)));
  }
}

void LastingFeed::Run() {
  std::thread watcher([this] {
    while (!has_ended_) {
      Watch();
      Pause(kBetweenLooksUs);
    }
  });
  for (size_t replica = 0; !is_stopped() && !has_failed();
       replica = (replica + 1) % clients_.size()) {
    Connect(replica);
    Pause(kBetweenConnectionsUs);
  }
  has_ended_ = true;
  watcher.join();
}

void LastingFeed::Watch() {
  const std::optional<Answer> newest = answers_.newest();
  const MutexLock lock(feed_mutex_);
  if (feed_ == nullptr) return;
  const bool is_other =
      newest.has_value() && newest->begin_us > session_.begin_us &&
      (newest->replica != session_.replica || newest->life != session_.life);
  if (is_other || group_.life(session_.replica) != session_.life) feed_->Cut();
}

void LastingFeed::Connect(size_t replica) {
  const Answer session = {.replica = replica,
                          .life = group_.life(replica),
                          .begin_us = clock_.MonotonicUs()};
  if (!Compare(replica)) return;
  {
    const MutexLock lock(feed_mutex_);
    session_ = session;
    feed_ = std::make_unique<FeedClient>(clients_[replica]->channel(), "shop");
  }
  deltas_taken_ = 0;
  if (StateAll()) {
    while (!is_stopped() && !has_failed() && Step()) Pause(kBetweenStepsUs);
  }
  const MutexLock lock(feed_mutex_);
  feed_.reset();
}

bool LastingFeed::StateAll() {
  feed_->BeginSnapshot();
  for (const auto& [uuid, cpu] : machines_) {
    feed_->AddMachine(uuid, {.cpu = static_cast<float>(cpu)});
  }
  for (const auto& [id, task] : tasks_) {
    if (!task.is_gone) StateTask(id, task);
  }
  feed_->EndSnapshot();
  return Settle();
}

void LastingFeed::StateTask(const std::string& id, const Task& task) {
  feed_->AddTask(id,
                 {.cpu = static_cast<float>(task.cpu),
                  .name = "ns/" + id,
                  .priority = task.priority},
                 task.is_bound ? task.machine : "");
}

bool LastingFeed::Step() {
  if (machines_.size() < 3 || rng_.Chance(1, 4)) {
    const std::string uuid = StrCat("m", machines_.size());
    machines_[uuid] = machines_.size() < kLargeMachines ? 4000 : 1;
    ++machines_asked_;
    feed_->AddMachine(uuid, {.cpu = static_cast<float>(machines_[uuid])});
  }
  for (auto& [id, task] : tasks_) {
    if (task.leaves || rng_.Chance(1, 40)) {
      task.is_gone = true;
      feed_->TaskGone(id);
    } else if (!task.machine.empty() && !task.is_bound && rng_.Chance(1, 2)) {
      task.is_bound = true;
      StateTask(id, task);
    }
  }
  for (int64_t n = rng_.Between(0, 3); n > 0 && tasks_.size() < kTasksMax;
       --n) {
    const std::string id = StrCat("task", next_task_++);
    tasks_[id] = {.cpu = rng_.Between(1, 15) * 100,
                  .priority = rng_.Chance(1, 4) ? 1000u : 0u};
    StateTask(id, tasks_[id]);
  }
  return Settle();
}

bool LastingFeed::Settle() {
  const int64_t begin_us = clock_.MonotonicUs();
  const uint64_t durable_before = feed_->durable();
  const bool is_durable = feed_->Settle();
  // What was told is true, whatever becomes of the connection.
  const bool is_news = deltas_taken_ < feed_->deltas().size();
  for (; deltas_taken_ < feed_->deltas().size(); ++deltas_taken_) {
    Take(feed_->deltas()[deltas_taken_]);
  }
  for (const v1::FeedProblem& problem : feed_->problems()) {
    Fail(StrCat("event ", problem.sequence(), ": ", problem.message()));
  }
  if (!is_durable) return false;
  // Where nothing was stated, nothing was answered.
  if (feed_->durable() > durable_before) {
    ++progress_;
    if (group_.life(session_.replica) == session_.life) {
      answers_.Note(
          {session_.replica, session_.life, begin_us, clock_.MonotonicUs()});
    }
  }
  machines_acknowledged_ = static_cast<int64_t>(machines_.size());
  std::erase_if(tasks_, [](const auto& task) { return task.second.is_gone; });
  for (auto& [id, task] : tasks_) task.is_durable = true;
  return !is_news || rng_.Chance(1, 3) || feed_->Confirm();
}

void LastingFeed::Take(const v1::FeedDelta& delta) {
  const auto found = tasks_.find(delta.task());
  // Of what was taken back before it was told.
  if (found == tasks_.end() || found->second.is_gone) return;
  Task& task = found->second;
  if (delta.type() != v1::FeedDelta::PLACE) {
    if (task.machine.empty()) {
      Fail(StrCat(delta.task(), " is to leave, and runs nowhere"));
    }
    task.leaves = true;
    return;
  }
  if (!task.machine.empty() && task.machine != delta.machine()) {
    Fail(StrCat(delta.task(), " was placed on ", task.machine,
                " and is placed on ", delta.machine()));
  }
  if (!machines_.contains(delta.machine())) {
    Fail(StrCat(delta.task(), " is placed on ", delta.machine(),
                ", which is not there"));
    return;
  }
  if (task.machine.empty()) ++placements_;
  task.machine = delta.machine();
  CheckRoom(task.machine);
}

void LastingFeed::CheckRoom(const std::string& machine) {
  int64_t used = 0;
  for (const auto& [id, task] : tasks_) {
    if (task.machine == machine && !task.is_gone) used += task.cpu;
  }
  if (used > machines_.at(machine)) {
    Fail(StrCat(machine, " has ", machines_.at(machine), " millicores, and ",
                used, " are taken"));
  }
}

bool LastingFeed::Compare(size_t replica) {
  std::vector<v1::Task> tasks;
  v1::ListTasksRequest request;
  do {
    grpc::ClientContext context;
    SetDeadline(kListMs, &context);
    v1::ListTasksResponse response;
    if (!clients_[replica]
             ->inspector()
             .ListTasks(&context, request, &response)
             .ok()) {
      return false;
    }
    tasks.insert(tasks.end(), response.tasks().begin(), response.tasks().end());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  CompareTasks(tasks);
  ++comparisons_;
  return true;
}

void LastingFeed::CompareTasks(const std::vector<v1::Task>& tasks) {
  std::set<std::string> known;
  std::map<std::string, int64_t> used;
  for (const v1::Task& task : tasks) {
    const std::string& id = task.feed_task_id();
    known.insert(id);
    used[task.machine_uuid()] += task.request().cpu_millicores();
    if (!tasks_.contains(id)) {
      Fail(StrCat(id, " is there, and was gone, or never stated"));
      continue;
    }
    const Task& mine = tasks_.at(id);
    if (mine.is_gone) continue;
    if (!mine.machine.empty() && mine.machine != task.machine_uuid()) {
      Fail(StrCat(id, " was placed on ", mine.machine, ", and is ",
                  v1::Task::State_Name(task.state()), " on '",
                  task.machine_uuid(), "'"));
    }
    if (mine.leaves && !task.evicted()) {
      Fail(StrCat(id, " was told to leave, and that is forgotten"));
    }
  }
  for (const auto& [id, task] : tasks_) {
    if (task.is_durable && !task.is_gone && !known.contains(id)) {
      Fail(StrCat(id, " was durable, and is lost"));
    }
  }
  for (const auto& [uuid, cpu] : used) {
    if (!uuid.empty() && cpu > machines_[uuid]) {
      Fail(StrCat(uuid, " has ", machines_[uuid], " millicores, and ", cpu,
                  " are taken"));
    }
  }
}

std::string LastingFeed::Summary() const {
  return StrCat(machines_.size(), " machines, ", next_task_, " tasks, ",
                placements_, " placements, ", comparisons_, " connections");
}

}  // namespace sluice
