#include "util/etcd_cluster.h"

#include <glog/logging.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "etcd/rpc.grpc.pb.h"
#include "util/free_port.h"

namespace sluice {

EtcdCluster::EtcdCluster() {
  std::vector<EtcdServer::Member> members(kMembers);
  std::string all;
  for (size_t i = 0; i < kMembers; ++i) {
    members[i].name = StrCat("member", i);
    members[i].peer = StrCat("127.0.0.1:", FreePort());
    all +=
        StrCat(i == 0 ? "" : ",", members[i].name, "=http://", members[i].peer);
  }
  for (EtcdServer::Member& member : members) {
    member.all = all;
    members_.push_back(std::make_unique<EtcdServer>(
        std::move(member), std::vector<std::string>{"--heartbeat-interval=50",
                                                    "--election-timeout=500"}));
  }
  for (const auto& member : members_) {
    CHECK(member->AwaitAnswer()) << member->directory() + "/log";
  }
}

int EtcdCluster::port(size_t index) const {
  const std::string& endpoint = members_[index]->endpoint();
  return std::atoi(endpoint.c_str() + endpoint.find(':') + 1);
}

std::optional<size_t> EtcdCluster::Leader() const {
  std::map<uint64_t, size_t> indices;
  std::optional<uint64_t> leader;
  for (size_t i = 0; i < kMembers; ++i) {
    if (!members_[i]->is_running()) continue;
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                      gpr_time_from_millis(500, GPR_TIMESPAN)));
    etcdserverpb::StatusResponse response;
    if (!etcdserverpb::Maintenance::NewStub(members_[i]->Connect())
             ->Status(&context, {}, &response)
             .ok()) {
      continue;
    }
    indices[response.header().member_id()] = i;
    if (leader.has_value() && *leader != response.leader()) return {};
    leader = response.leader();
  }
  if (!leader.has_value() || !indices.contains(*leader)) return {};
  return indices[*leader];
}

}  // namespace sluice
