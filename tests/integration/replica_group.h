// Several daemons on one store in etcd, as processes that are started again
// when they have ended, each with a network of its own between it and each
// member of etcd.
//
// Threads: life() by any, the rest by the one that makes it.

#ifndef SLUICE_TESTS_INTEGRATION_REPLICA_GROUP_H_
#define SLUICE_TESTS_INTEGRATION_REPLICA_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/daemon_process.h"
#include "util/etcd_cluster.h"
#include "util/tcp_proxy.h"

namespace sluice {

class ReplicaGroup {
 public:
  // Starts `size` daemons with these flags besides.
  ReplicaGroup(const EtcdCluster& etcd, size_t size,
               std::vector<std::string> flags);

  size_t size() const { return replicas_.size(); }
  std::vector<int> ports() const;

  // Which process it is of those that this daemon has had.  An answer that was
  // asked for and came in one life is of the process of that life.
  int64_t life(size_t replica) const { return replicas_[replica]->life; }

  DaemonProcess& process(size_t replica) {
    return *replicas_[replica]->process;
  }
  // REQUIRES: the former process has ended.
  void Start(size_t replica);
  // The exit code if it has ended, also when it is asked again.
  std::optional<int> PollEnd(size_t replica);

  // All of the network between it and etcd, or what is before one member.
  void SetNetwork(size_t replica, TcpProxy::Mode mode);
  void SetNetwork(size_t replica, size_t member, TcpProxy::Mode mode);

  // The newest lines of each.
  std::string Logs() const;

 private:
  struct Replica {
    int port = 0;
    std::vector<std::unique_ptr<TcpProxy>> networks;  // By member.
    std::unique_ptr<DaemonProcess> process;
    std::optional<int> end;
    std::atomic<int64_t> life = 0;
    std::string former_logs;
  };

  const std::vector<std::string> flags_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_REPLICA_GROUP_H_
