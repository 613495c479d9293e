#include "integration/fake_api_server.h"

#include <algorithm>

#include "base/strings.h"

namespace sluice {

void FakeApiServer::AddNode(const std::string& name, int64_t cpu) {
  nodes_[name] = cpu;
  events_.push_back({EventKind::kNodeAdded, name});
}

void FakeApiServer::AddReplicaSet(const std::string& name, int count,
                                  int64_t cpu) {
  for (int i = 0; i < count; ++i) CreatePod(name, cpu);
}

void FakeApiServer::CreatePod(const std::string& replica_set, int64_t cpu) {
  const uint64_t sequence = next_sequence_++;
  const std::string name =
      StrCat("ns/", replica_set, "-", rng_.Below(90000) + 10000, "-", sequence);
  pods_[name] = {.replica_set = replica_set, .cpu = cpu, .sequence = sequence};
  events_.push_back({EventKind::kPodAdded, name, replica_set});
}

void FakeApiServer::Erase(std::string pod) {
  events_.push_back({EventKind::kPodDeleted, pod, pods_.at(pod).replica_set});
  pods_.erase(pod);
}

void FakeApiServer::BeginDelete(const std::string& pod) {
  Pod& ending = pods_.at(pod);
  ending.is_ending = true;
  CreatePod(ending.replica_set, ending.cpu);
}

void FakeApiServer::EndPods() {
  std::vector<std::string> ending;
  for (const auto& [name, pod] : pods_) {
    if (pod.is_ending) ending.push_back(name);
  }
  for (const std::string& name : ending) Erase(name);
}

void FakeApiServer::Delete(const std::string& pod) {
  const Pod deleted = pods_.at(pod);
  Erase(pod);
  if (!deleted.is_ending) CreatePod(deleted.replica_set, deleted.cpu);
}

bool FakeApiServer::Bind(const std::string& pod, const std::string& node) {
  const auto it = pods_.find(pod);
  if (it == pods_.end() || !it->second.node.empty()) return false;
  it->second.node = node;
  return true;
}

int64_t FakeApiServer::unbound_count() const {
  return std::ranges::count_if(
      pods_, [](const auto& pod) { return pod.second.node.empty(); });
}

std::string FakeApiServer::Overcommitted() const {
  std::map<std::string, int64_t> used;
  for (const auto& [name, pod] : pods_) {
    if (!pod.node.empty()) used[pod.node] += pod.cpu;
  }
  std::string result;
  for (const auto& [node, cpu] : used) {
    if (cpu > nodes_.at(node)) {
      result += StrCat(node, " has ", nodes_.at(node), " and uses ", cpu, "; ");
    }
  }
  return result;
}

}  // namespace sluice
