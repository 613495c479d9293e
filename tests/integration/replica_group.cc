#include "integration/replica_group.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "util/free_port.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 6000;

}  // namespace

ReplicaGroup::ReplicaGroup(const EtcdCluster& etcd, size_t size,
                           std::vector<std::string> flags)
    : flags_(std::move(flags)) {
  for (size_t i = 0; i < size; ++i) {
    replicas_.push_back(std::make_unique<Replica>());
    replicas_[i]->port = FreePort();
    for (size_t m = 0; m < EtcdCluster::kMembers; ++m) {
      replicas_[i]->networks.push_back(
          std::make_unique<TcpProxy>(etcd.port(m)));
    }
    Start(i);
  }
}

std::vector<int> ReplicaGroup::ports() const {
  std::vector<int> ports;
  for (const auto& replica : replicas_) ports.push_back(replica->port);
  return ports;
}

void ReplicaGroup::Start(size_t index) {
  Replica& replica = *replicas_[index];
  CHECK(replica.process == nullptr || replica.end.has_value());
  std::string endpoints;
  for (const auto& network : replica.networks) {
    endpoints +=
        StrCat(endpoints.empty() ? "" : ",", "127.0.0.1:", network->port());
  }
  std::vector<std::string> flags = {
      StrCat("--listen_address=127.0.0.1:", replica.port),
      "--http_address=", StrCat("--store=etcd://", endpoints, "/sluice")};
  flags.insert(flags.end(), flags_.begin(), flags_.end());
  if (replica.process != nullptr) {
    replica.former_logs += replica.process->log();
    replica.former_logs += StrCat("---- ended with ", *replica.end, "\n");
  }
  ++replica.life;
  replica.end.reset();
  replica.process = std::make_unique<DaemonProcess>(flags);
}

std::optional<int> ReplicaGroup::PollEnd(size_t index) {
  Replica& replica = *replicas_[index];
  if (!replica.end.has_value()) replica.end = replica.process->PollEnd();
  return replica.end;
}

void ReplicaGroup::SetNetwork(size_t replica, TcpProxy::Mode mode) {
  for (const auto& network : replicas_[replica]->networks) {
    network->SetMode(mode);
  }
}

void ReplicaGroup::SetNetwork(size_t replica, size_t member,
                              TcpProxy::Mode mode) {
  replicas_[replica]->networks[member]->SetMode(mode);
}

std::string ReplicaGroup::Logs() const {
  std::string text;
  for (size_t i = 0; i < replicas_.size(); ++i) {
    const std::string log =
        replicas_[i]->former_logs + replicas_[i]->process->log();
    text += StrCat("==== daemon ", i, " at port ", replicas_[i]->port, ":\n",
                   log.substr(log.size() - std::min(log.size(), kShownBytes)),
                   "\n");
  }
  return text;
}

}  // namespace sluice
