// A real etcd of three members, as processes on this machine.
//
// It elects within a second, and grants leases of one.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_ETCD_CLUSTER_H_
#define SLUICE_TESTS_UTIL_ETCD_CLUSTER_H_

#include <memory>
#include <optional>
#include <vector>

#include "util/etcd_server.h"

namespace sluice {

class EtcdCluster {
 public:
  static constexpr size_t kMembers = 3;

  // Starts them and waits until all answer.
  // REQUIRES: EtcdServer::IsInstalled().
  EtcdCluster();

  EtcdServer& member(size_t index) { return *members_[index]; }
  int port(size_t index) const;

  // The member that leads the others, if those that answer agree on one.
  std::optional<size_t> Leader() const;

 private:
  std::vector<std::unique_ptr<EtcdServer>> members_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_ETCD_CLUSTER_H_
