// How long nobody answers when the leader of two daemons is killed.
//
// An etcd of one member and two daemons, one of which leads and is filled by
// `sluicectl bench --feed --keep`.  Then, again and again: the leader is
// killed at any moment of its lease, and the other is asked for its status
// until it answers.  A "warm" one has followed long enough to know what is in
// the store; a "cold" one was started right before.  A daemon that is started
// takes the place of the one that was killed.
//
// A row for each take-over, and the smallest, median and largest of all:
//   vacant    from the kill until etcd has ended the lease
//   answered  from the kill until the other answers
// What is between the two is the daemon's.

#include <glog/logging.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/rng.h"
#include "base/strings.h"
#include "etcd/etcd_address.h"
#include "etcd/etcd_client.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/shell_command.h"
#include "sluice/base/clock.h"
#include "util/etcd_server.h"
#include "util/paths.h"
#include "util/program_flags.h"

namespace sluice {
namespace {

struct Flags {
  int64_t machines = 10000;
  int64_t tasks = 100000;
  int64_t times = 10;
  int64_t lease_s = 2;

  void AddTo(FlagSet& flags) {
    flags.AddInteger({"machines", "COUNT", "Machines of the cluster."},
                     kFromOne, &machines);
    flags.AddInteger({"tasks", "COUNT", "Tasks that are placed."}, kFromOne,
                     &tasks);
    flags.AddInteger({"times", "COUNT", "Take-overs of each kind."}, kFromOne,
                     &times);
    flags.AddInteger({"lease", "SECONDS", "--replicas_lease of the daemons."},
                     {1, 3600}, &lease_s);
  }
};

struct Takeover {
  int64_t vacant_us = 0;
  int64_t answered_us = 0;
};

class Cluster {
 public:
  explicit Cluster(const Flags& flags)
      : flags_(flags),
        address_(etcd_.Address("/takeover")),
        client_(EtcdClient::Make({.address = ParseEtcdAddress(address_).value(),
                                  .timeout_ms = 60000})
                    .value()),
        leader_(Start()) {
    const int port = leader_->AwaitReady();
    CHECK_NE(port, 0) << leader_->log();
    const std::string output =
        OutputOf(StrCat(ProgramPath("sluicectl"),
                        " bench --feed --keep --machines=", flags_.machines,
                        " --tasks=", flags_.tasks,
                        " --classes=20 --server=127.0.0.1:", port, " 2>&1"));
    CHECK(output.ends_with("exit code 0\n")) << output;
  }

  // Waits `delay_us` between that the follower is there and the kill.
  Takeover Run(bool is_warm, int64_t delay_us) {
    std::unique_ptr<DaemonProcess> next = Start();
    const int port = next->AwaitFollowing();
    CHECK_NE(port, 0) << next->log();
    if (is_warm) {
      CHECK(next->AwaitLine("the store is in memory: ")) << next->log();
      Sleep(delay_us);
    }
    const auto stub = v1::Inspector::NewStub(Connect(port));
    IsAnswered(*stub);  // It is connected.
    int64_t vacant_us = 0;
    const int64_t revision = Revision();
    leader_->Signal(SIGKILL);
    const int64_t killed_us = clock_.MonotonicUs();
    std::thread watcher([&] {
      CHECK(client_
                ->AwaitDeletion(client_->address().prefix + "/leader", revision,
                                60000)
                .ok());
      vacant_us = clock_.MonotonicUs();
    });
    while (!IsAnswered(*stub)) Sleep(2000);
    const int64_t answered_us = clock_.MonotonicUs();
    watcher.join();
    leader_ = std::move(next);
    return {vacant_us - killed_us, answered_us - killed_us};
  }

 private:
  std::unique_ptr<DaemonProcess> Start() const {
    return std::make_unique<DaemonProcess>(std::vector<std::string>{
        "--listen_address=127.0.0.1:0", "--http_address=",
        "--store=" + address_, StrCat("--replicas_lease=", flags_.lease_s)});
  }

  bool IsAnswered(v1::Inspector::Stub& stub) const {
    grpc::ClientContext context;
    v1::Status response;
    if (!stub.GetStatus(&context, {}, &response).ok()) return false;
    CHECK_EQ(response.machines(), flags_.machines);
    return true;
  }

  int64_t Revision() {
    etcdserverpb::RangeRequest request;
    request.set_key("/");
    return client_->Range(request)->header().revision();
  }

  void Sleep(int64_t time_us) {
    const MutexLock lock(mutex_);
    pause_.WaitFor(mutex_, time_us);
  }

  const Flags flags_;
  const SystemClock clock_;
  Mutex mutex_;
  CondVar pause_;
  EtcdServer etcd_;
  const std::string address_;
  const std::unique_ptr<EtcdClient> client_;
  std::unique_ptr<DaemonProcess> leader_;
};

double Seconds(int64_t time_us) { return static_cast<double>(time_us) / 1e6; }

void PrintRow(const std::string& name, const Takeover& takeover) {
  std::printf("%-12s %8.3f %8.3f %8.3f\n", name.c_str(),
              Seconds(takeover.vacant_us), Seconds(takeover.answered_us),
              Seconds(takeover.answered_us - takeover.vacant_us));
  std::fflush(stdout);
}

// The value at `share` of the way from the smallest to the largest.
Takeover At(double share, const std::vector<Takeover>& takeovers) {
  std::vector<int64_t> vacant;
  std::vector<int64_t> answered;
  for (const Takeover& takeover : takeovers) {
    vacant.push_back(takeover.vacant_us);
    answered.push_back(takeover.answered_us);
  }
  std::ranges::sort(vacant);
  std::ranges::sort(answered);
  const auto index = static_cast<size_t>(
      share * static_cast<double>(takeovers.size() - 1) + 0.5);
  return {vacant[index], answered[index]};
}

void Measure(const Flags& flags) {
  Rng rng(7);
  Cluster cluster(flags);
  std::printf("%-12s %8s %8s %8s\n", "seconds", "vacant", "answered", "after");
  for (const bool is_warm : {false, true}) {
    const std::string kind = is_warm ? "warm" : "cold";
    std::vector<Takeover> takeovers;
    for (int64_t i = 0; i < flags.times; ++i) {
      takeovers.push_back(
          cluster.Run(is_warm, static_cast<int64_t>(rng.Below(2000000))));
      PrintRow(kind, takeovers.back());
    }
    PrintRow(kind + " min", At(0, takeovers));
    PrintRow(kind + " median", At(0.5, takeovers));
    PrintRow(kind + " max", At(1, takeovers));
  }
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::Flags flags;
  sluice::FlagSet set;
  flags.AddTo(set);
  sluice::ParseProgramFlags(argc, argv, set);
  google::InitGoogleLogging(argv[0]);
  if (!sluice::EtcdServer::IsInstalled()) {
    std::puts("there is no etcd here: scripts/install-deps --test");
    return 0;
  }
  sluice::Measure(flags);
  return 0;
}
