#include "integration/watching_bridge.h"

#include <algorithm>

#include "base/hash.h"
#include "base/rng.h"
#include "base/strings.h"
#include "integration/client.h"

namespace sluice {
namespace {

using EventKind = FakeApiServer::EventKind;

constexpr int64_t kStepUs = 2000;
constexpr int64_t kScheduleIntervalUs = 50000;
constexpr int kNodeWorkers = 10;

uint64_t UidOf(const std::string& replica_set, uint64_t number) {
  return Fnv1a64(StrCat(replica_set, "/", number));
}

}  // namespace

WatchingBridge::WatchingBridge(int port, uint64_t seed, FakeApiServer* api)
    : api_(*api), bridge_(Connect(port), Connect(port)) {
  // Which list comes first, and whether rounds meet half of one, is chance.
  Rng rng(seed);
  const int64_t nodes_take_us = rng.Between(20000, 200000);
  const int64_t pods_take_us = rng.Between(20000, 200000);
  pods_per_step_ = rng.Below(20) + 1;
  bridge_.BindWith([this](const std::string& pod, const std::string& resource) {
    Bind(pod, resource);
  });
  // It asks for the lists when it begins to call Schedule, not before.
  bridge_.Check([this, nodes_take_us, pods_take_us] {
    is_serving_ = true;
    nodes_listed_us_ = clock_.MonotonicUs() + nodes_take_us;
    pods_listed_us_ = clock_.MonotonicUs() + pods_take_us;
  });
}

void WatchingBridge::Step() {
  const int64_t end_us = clock_.MonotonicUs() + kStepUs;
  if (is_serving_) {
    List();
    TakeEvents();
    Announce();
    if (!bridge_.is_scheduling() && clock_.MonotonicUs() >= next_schedule_us_) {
      bridge_.Schedule([this] {
        ++reply_count_;
        next_schedule_us_ = clock_.MonotonicUs() + kScheduleIntervalUs;
      });
    }
  }
  int64_t left_us = kStepUs;
  while (left_us > 0) {
    bridge_.AwaitOneFor(left_us);
    left_us = end_us - clock_.MonotonicUs();
  }
}

void WatchingBridge::List() {
  const int64_t now_us = clock_.MonotonicUs();
  if (!are_nodes_listed_ && now_us >= nodes_listed_us_) {
    are_nodes_listed_ = true;
    node_events_ = api_.events().size();
    for (const auto& [name, cpu] : api_.nodes()) new_nodes_.push_back(name);
  }
  if (!are_pods_listed_ && now_us >= pods_listed_us_) {
    are_pods_listed_ = true;
    pod_events_ = api_.events().size();
    for (const auto& [name, pod] : api_.pods()) {
      pod_changes_.push_back({EventKind::kPodAdded, name, pod.replica_set});
    }
  }
}

void WatchingBridge::TakeEvents() {
  const auto& events = api_.events();
  for (; are_nodes_listed_ && node_events_ < events.size(); ++node_events_) {
    const FakeApiServer::Event& event = events[node_events_];
    if (event.kind == EventKind::kNodeAdded) new_nodes_.push_back(event.name);
  }
  for (; are_pods_listed_ && pod_events_ < events.size(); ++pod_events_) {
    const FakeApiServer::Event& event = events[pod_events_];
    if (event.kind != EventKind::kNodeAdded) pod_changes_.push_back(event);
  }
}

void WatchingBridge::Announce() {
  while (!new_nodes_.empty() && nodes_in_flight_ < kNodeWorkers) {
    AnnounceNode(new_nodes_.front());
    new_nodes_.pop_front();
  }
  for (uint64_t i = 0; i < pods_per_step_ && !pod_changes_.empty(); ++i) {
    const FakeApiServer::Event change = pod_changes_.front();
    pod_changes_.pop_front();
    if (change.kind == EventKind::kPodDeleted) {
      RemovePod(change.name);
    } else if (!pods_.contains(change.name)) {
      Pod& pod = pods_[change.name];
      pod.replica_set = change.replica_set;
      SubmitPod(change.name);
    }
  }
}

void WatchingBridge::AnnounceNode(const std::string& name) {
  nodes_[PuOf(name)] = name;
  ++nodes_in_flight_;
  bridge_.AddNode(name, {.cpu = static_cast<float>(api_.nodes().at(name))},
                  [this] { --nodes_in_flight_; });
}

void WatchingBridge::SubmitPod(const std::string& name) {
  Pod& pod = pods_.at(name);
  pod.uid = UidOf(pod.replica_set, ++counts_[pod.replica_set]);
  const auto known = api_.pods().find(name);
  TaskFields fields = {.job = pod.replica_set, .name = name};
  // One that has gone meanwhile is announced all the same.
  if (known != api_.pods().end()) {
    pod.sequence = known->second.sequence;
    fields.cpu = static_cast<float>(known->second.cpu);
  }
  bridge_.Submit(pod.uid, fields, [this, name] {
    Pod& submitted = pods_.at(name);
    submitted.stage = Stage::kSubmitted;
    if (submitted.has_gone) RemovePod(name);
  });
}

void WatchingBridge::RemovePod(const std::string& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end()) return;
  Pod& pod = it->second;
  pod.has_gone = true;
  // A pod has one call at a time.
  if (pod.stage != Stage::kSubmitted) return;
  pod.stage = Stage::kRemoving;
  bridge_.Remove(pod.uid, [this, name] {
    --counts_.at(pods_.at(name).replica_set);
    pods_.erase(name);
  });
}

void WatchingBridge::Bind(const std::string& pod, const std::string& resource) {
  const auto it = pods_.find(pod);
  if (it != pods_.end()) it->second.is_placed = true;
  api_.Bind(pod, nodes_.at(resource));
}

bool WatchingBridge::HasAnnounced() const {
  return are_nodes_listed_ && are_pods_listed_ &&
         node_events_ == api_.events().size() &&
         pod_events_ == api_.events().size() && new_nodes_.empty() &&
         nodes_in_flight_ == 0 && pod_changes_.empty() &&
         std::ranges::none_of(pods_, [](const auto& pod) {
           return pod.second.stage == Stage::kSubmitting;
         });
}

bool WatchingBridge::IsSettled() const {
  return HasAnnounced() && std::ranges::all_of(pods_, [](const auto& pod) {
           return pod.second.stage == Stage::kSubmitted && pod.second.is_placed;
         });
}

bool WatchingBridge::SharesUidWithOlder(const std::string& pod) const {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return false;
  return std::ranges::any_of(pods_, [&](const auto& other) {
    return other.second.uid == it->second.uid &&
           other.second.sequence < it->second.sequence;
  });
}

std::string WatchingBridge::Describe() const {
  const auto removing = std::ranges::count_if(pods_, [](const auto& pod) {
    return pod.second.stage == Stage::kRemoving;
  });
  const auto placed = std::ranges::count_if(
      pods_, [](const auto& pod) { return pod.second.is_placed; });
  return StrCat("of ", pods_.size(), " pods it was told the places of ", placed,
                " and is removing ", removing, "; it has ",
                HasAnnounced() ? "" : "not ", "announced all; ", reply_count_,
                " replies; ", api_.unbound_count(), " pods are unbound");
}

}  // namespace sluice
