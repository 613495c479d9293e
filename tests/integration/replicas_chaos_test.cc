// Three daemons on an etcd of three members, of which what leads, what keeps it
// and the networks between are killed, stopped and cut at random, while clients
// go on.  What was acknowledged is never lost, and never do two lead.
//
// A life follows from its seed but for the order in which threads and processes
// come to their turn.  SLUICE_CHAOS_LIVES=N lives so many, and
// SLUICE_CHAOS_SEED=N begins with another one.

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/rng.h"
#include "base/strings.h"
#include "integration/answer_log.h"
#include "integration/client.h"
#include "integration/lasting_calls.h"
#include "integration/lasting_client.h"
#include "integration/lasting_feed.h"
#include "integration/messages.h"
#include "integration/replica_group.h"
#include "sluice/base/clock.h"
#include "util/etcd_cluster.h"
#include "util/etcd_server.h"
#include "util/seed_count.h"

namespace sluice {
namespace {

constexpr size_t kReplicas = 3;
constexpr int kFaults = static_cast<int>(SeedCount(16));

// Within so long each of these has to happen.
constexpr int64_t kTakeOverUs = 90'000'000;
constexpr int64_t kEndUs = 20'000'000;

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Calls to a daemon that sleeps, over connections that it had before.
class LateCalls {
 public:
  // Connects.
  explicit LateCalls(int port) {
    for (size_t i = 0; i < kConnections; ++i) {
      clients_.push_back(std::make_unique<Client>(ConnectEagerly(port)));
      clients_.back()->channel()->WaitForConnected(
          gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                       gpr_time_from_seconds(2, GPR_TIMESPAN)));
    }
  }

  // A write that is refused ends the process, with the reads beside it.
  void Make(bool writes) {
    for (size_t i = 0; i < kConnections; ++i) {
      Client& client = *clients_[i];
      if (writes) Write(client, StrCat("late", i));
      for (int n = 0; n < kReads; ++n) {
        Call& read = Add();
        read.reading = client.inspector().AsyncGetStatus(
            &read.context, v1::GetStatusRequest(), &queue_);
        read.reading->Finish(&read.read, &read.status, nullptr);
      }
    }
  }

  // Waits for all, and says how many were answered.
  int Answered() {
    int answered = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      void* tag = nullptr;
      bool ok = false;
      queue_.Next(&tag, &ok);
    }
    for (const auto& call : calls_) answered += call->status.ok() ? 1 : 0;
    calls_.clear();
    return answered;
  }

  ~LateCalls() {
    for (const auto& call : calls_) call->context.TryCancel();
    Answered();
  }

 private:
  static constexpr size_t kConnections = 4;
  static constexpr int kReads = 16;

  struct Call {
    grpc::ClientContext context;
    grpc::Status status;
    firmament::NodeAddedResponse added;
    v1::Status read;
    std::unique_ptr<
        grpc::ClientAsyncResponseReader<firmament::NodeAddedResponse>>
        adding;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::Status>> reading;
  };

  void Write(Client& client, const std::string& uuid) {
    Call& call = Add();
    call.adding = client.scheduler().AsyncNodeAdded(
        &call.context, NodeMessage(uuid, {.cpu = 1}), &queue_);
    call.adding->Finish(&call.added, &call.status, nullptr);
  }
  Call& Add() {
    calls_.push_back(std::make_unique<Call>());
    return *calls_.back();
  }

  std::vector<std::unique_ptr<Client>> clients_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Call>> calls_;
};

class Life {
 public:
  // `Lasting` is the client that goes on through it.
  template <class Lasting>
  Life(uint64_t seed, std::type_identity<Lasting>)
      : rng_(seed),
        group_(etcd_, kReplicas,
               {"--replicas_lease=1", "--replies=strict", "--removal_hold_ms=0",
                "--preemption=priority", "--logbuflevel=-1"}),
        client_(std::make_unique<Lasting>(group_, answers_, seed)) {
    for (size_t i = 0; i < kReplicas; ++i) {
      probes_.push_back(
          std::make_unique<StatusProbe>(group_, i, *client_, answers_));
    }
    threads_.emplace_back([this] { client_->Run(); });
    for (const auto& probe : probes_) {
      threads_.emplace_back([&probe] { probe->Run(); });
    }
  }

  ~Life() { Stop(); }

  // Until something is wrong.
  void Live(int faults) {
    AwaitAnswer("the beginning");
    for (int i = 0; i < faults && !has_failed(); ++i) {
      // While one fault lasts there may be another one.
      const bool is_double = rng_.Chance(1, 4);
      const auto mended = is_double ? DisturbEtcd() : [] {};
      FailSomehow(/*etcd_is_whole=*/!is_double);
      mended();
      // What was broken is mended, and it goes on.
      if (!has_failed() && !rng_.Chance(1, 6)) AwaitProgress("mending");
      Hold(rng_.Between(0, 400'000));
    }
    if (!has_failed()) AwaitProgress("the end");
    Stop();
    Check();
  }

  const std::map<std::string, int>& faults() const { return faults_; }

 private:
  void FailSomehow(bool etcd_is_whole) {
    switch (rng_.Below(etcd_is_whole ? 12 : 10)) {
      case 0:
      case 1:
        return KillLeader();
      case 2:
      case 3:
        return FreezePastLease();
      case 4:
        return FreezeShortly();
      case 5:
        return CutOff(TcpProxy::Mode::kIsSilent, "is cut off from etcd");
      case 6:
        return CutOff(TcpProxy::Mode::kLosesAnswers, "gets no answers of etcd");
      case 7:
        return KillLeaderWhileAnotherIsCutOff();
      case 8:
        return EndLeader();
      case 9:
        return CutOffFromMember();
      case 10:
        return KillMostMembers();
      default: {
        const auto mend = DisturbEtcd();
        Hold(rng_.Between(100'000, 2'000'000));
        return mend();
      }
    }
  }

  // -------------------------------------------------------------------------
  // Faults of daemons

  void KillLeader() {
    const Answer leader = Leader();
    Count("the leader is killed");
    group_.process(leader.replica).Signal(SIGKILL);
    AwaitEndOf(leader, -SIGKILL);
    Hold(rng_.Chance(1, 2) ? 0 : rng_.Between(0, 1'500'000));
    StartAfter(leader);
  }

  void EndLeader() {
    const Answer leader = Leader();
    Count("the leader ends in order");
    group_.process(leader.replica).Signal(SIGTERM);
    AwaitEndOf(leader, 0);
    StartAfter(leader);
  }

  void FreezeShortly() {
    const size_t replica = rng_.Chance(2, 3) ? Leader().replica : AnyReplica();
    Count("a daemon is frozen for up to a lease");
    group_.process(replica).Signal(SIGSTOP);
    Hold(rng_.Between(50'000, 1'000'000));
    group_.process(replica).Signal(SIGCONT);
  }

  void FreezePastLease() {
    const Answer leader = Leader();
    Count("the leader is frozen past its lease");
    LateCalls late(group_.ports()[leader.replica]);
    group_.process(leader.replica).Signal(SIGSTOP);
    AwaitAnswer("freezing the leader", leader.replica);
    if (rng_.Chance(1, 2)) Hold(rng_.Between(0, 1'000'000));
    // What it is asked while it sleeps is neither written nor answered.
    late.Make(/*writes=*/rng_.Chance(1, 2));
    group_.process(leader.replica).Signal(SIGCONT);
    AwaitEndOf(leader, 1);
    if (group_.life(leader.replica) == leader.life && late.Answered() > 0) {
      Fail("a leader that was frozen answered when it went on");
    }
    StartAfter(leader);
  }

  void CutOff(TcpProxy::Mode mode, const std::string& what) {
    const Answer leader = Leader();
    Count(StrCat("the leader ", what));
    group_.SetNetwork(leader.replica, mode);
    AwaitEndOf(leader, 1);
    if (rng_.Chance(1, 2))
      AwaitAnswer("cutting the leader off", leader.replica);
    if (rng_.Chance(1, 2)) {
      StartAfter(leader);
      Hold(rng_.Between(0, 1'500'000));
    }
    // What was under way arrives now.
    group_.SetNetwork(leader.replica, TcpProxy::Mode::kForwards);
    StartAfter(leader);
  }

  void CutOffFromMember() {
    const size_t replica = rng_.Chance(2, 3) ? Leader().replica : AnyReplica();
    const size_t member = rng_.Below(EtcdCluster::kMembers);
    Count("a daemon is cut off from a member of etcd");
    const auto mode = rng_.Chance(1, 2) ? TcpProxy::Mode::kIsSilent
                                        : TcpProxy::Mode::kLosesAnswers;
    group_.SetNetwork(replica, member, mode);
    Hold(rng_.Between(200'000, 2'500'000));
    group_.SetNetwork(replica, member, TcpProxy::Mode::kForwards);
  }

  void KillLeaderWhileAnotherIsCutOff() {
    const Answer leader = Leader();
    Count("the leader is killed, and another one is cut off from etcd");
    const size_t other = (leader.replica + 1 + rng_.Below(2)) % kReplicas;
    group_.SetNetwork(other, TcpProxy::Mode::kIsSilent);
    group_.process(leader.replica).Signal(SIGKILL);
    AwaitEndOf(leader, -SIGKILL);
    StartAfter(leader);
    AwaitAnswer("killing the leader");
    group_.SetNetwork(other, TcpProxy::Mode::kForwards);
  }

  // -------------------------------------------------------------------------
  // Faults of etcd

  // Something that leaves etcd with two members.  Returns what mends it.
  std::function<void()> DisturbEtcd() {
    const std::optional<size_t> leader = etcd_.Leader();
    const bool is_leader = leader.has_value() && rng_.Chance(1, 2);
    const size_t index =
        is_leader ? *leader : rng_.Below(EtcdCluster::kMembers);
    EtcdServer& member = etcd_.member(index);
    const std::string name =
        is_leader ? "the leader of etcd" : "a member of etcd";
    if (rng_.Chance(1, 2)) {
      Count(StrCat(name, " is killed"));
      member.Kill();
      return [&member] { member.Start(); };
    }
    Count(StrCat(name, " is frozen"));
    member.Signal(SIGSTOP);
    return [&member] { member.Signal(SIGCONT); };
  }

  void KillMostMembers() {
    Count("two members of etcd are killed");
    const size_t first = rng_.Below(EtcdCluster::kMembers);
    const size_t second = (first + 1) % EtcdCluster::kMembers;
    etcd_.member(first).Kill();
    etcd_.member(second).Kill();
    Hold(rng_.Between(0, 2'000'000));
    etcd_.member(first).Spawn();
    etcd_.member(second).Start();
  }

  // -------------------------------------------------------------------------
  // What goes on meanwhile

  // A process that answered, and has not ended.
  Answer Leader() {
    while (true) {
      const Answer answer = answers_.newest().value();
      Supervise();
      if (group_.life(answer.replica) == answer.life) return answer;
      answers_.Await();
    }
  }
  size_t AnyReplica() { return rng_.Below(kReplicas); }

  // As what starts again what has ended.
  void Supervise() {
    for (size_t i = 0; i < kReplicas; ++i) {
      const std::optional<int> end = group_.PollEnd(i);
      if (!end.has_value() || down_.contains(i)) continue;
      if (*end == 1) {
        ++ended_;
      } else {
        Fail(StrCat("daemon ", i, " ended with ", *end));
      }
      group_.Start(i);
    }
  }

  void Hold(int64_t time_us) {
    const int64_t end_us = clock_.MonotonicUs() + time_us;
    while (clock_.MonotonicUs() < end_us && !has_failed()) {
      Supervise();
      answers_.Await();
    }
  }

  // Waits for an answer of another one than `except` to a call that begins now.
  void AwaitAnswer(const std::string& what, size_t except = kReplicas) {
    const int64_t begin_us = clock_.MonotonicUs();
    while (!has_failed()) {
      const std::optional<Answer> newest = answers_.newest();
      if (newest.has_value() && newest->begin_us > begin_us &&
          newest->replica != except) {
        return;
      }
      if (clock_.MonotonicUs() - begin_us > kTakeOverUs) {
        return Fail(StrCat("nobody leads after ", what));
      }
      Supervise();
      answers_.Await();
    }
  }

  // Waits until the client has been answered what it asks from now on.
  void AwaitProgress(const std::string& what) {
    AwaitAnswer(what);
    const int64_t begin_us = clock_.MonotonicUs();
    // The next answer may have been on its way.
    const int64_t enough = client_->progress() + 2;
    while (client_->progress() < enough && !has_failed()) {
      if (clock_.MonotonicUs() - begin_us > kTakeOverUs) {
        return Fail(StrCat("the client is not answered after ", what));
      }
      Supervise();
      answers_.Await();
    }
  }

  // Starts the one that follows the process that gave this answer, which has
  // ended, unless that was done.
  void StartAfter(const Answer& answer) {
    if (!down_.contains(answer.replica)) return;
    down_.erase(answer.replica);
    group_.Start(answer.replica);
  }

  // Waits until the process that gave this answer has ended.
  void AwaitEndOf(const Answer& answer, int code) {
    const int64_t begin_us = clock_.MonotonicUs();
    while (group_.life(answer.replica) == answer.life) {
      const std::optional<int> end = group_.PollEnd(answer.replica);
      if (end.has_value()) {
        down_.insert(answer.replica);
        // It may be deposed before it does what it was told.
        if (*end != code && *end != 1) {
          Fail(StrCat("daemon ", answer.replica, " ended with ", *end,
                      " instead of ", code));
        }
        return;
      }
      if (clock_.MonotonicUs() - begin_us > kEndUs) {
        Fail(StrCat("daemon ", answer.replica, " does not end"));
        group_.process(answer.replica).Signal(SIGKILL);
        return;
      }
      answers_.Await();
    }
  }

  void Count(const std::string& fault) { ++faults_[fault]; }
  void Fail(const std::string& error) { errors_.push_back(error); }
  bool has_failed() const { return client_->has_failed() || !errors_.empty(); }

  void Stop() {
    client_->Stop();
    for (const auto& probe : probes_) probe->Stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void Check() {
    for (const std::string& error : errors_) ADD_FAILURE() << error;
    for (const std::string& error : client_->errors()) ADD_FAILURE() << error;
    for (const auto& probe : probes_) EXPECT_EQ(probe->error(), "");
    EXPECT_EQ(answers_.Contradiction(), "");
    if (testing::Test::HasFailure()) LOG(ERROR) << group_.Logs();
    LOG(INFO) << answers_.leaders() << " leaders, " << answers_.answers()
              << " answers, " << answers_.late_answers() << " of them late, "
              << ended_ << " daemons that ended by themselves, "
              << client_->Summary();
    for (const auto& [name, count] : faults_) {
      LOG(INFO) << count << " times: " << name;
    }
  }

  Rng rng_;
  const SystemClock clock_;
  EtcdCluster etcd_;
  ReplicaGroup group_;
  AnswerLog answers_;
  const std::unique_ptr<LastingClient> client_;
  std::vector<std::unique_ptr<StatusProbe>> probes_;
  std::vector<std::thread> threads_;
  int ended_ = 0;          // By themselves, and were started again.
  std::set<size_t> down_;  // Not to be started again yet.
  std::map<std::string, int> faults_;
  std::vector<std::string> errors_;
};

template <class Lasting>
void LiveLives(uint64_t first_seed) {
  if (!EtcdServer::IsInstalled()) {
    GTEST_SKIP() << "there is no etcd here: scripts/install-deps --test";
  }
  const uint64_t first = NumberFromEnvironment("SLUICE_CHAOS_SEED", first_seed);
  const uint64_t lives = NumberFromEnvironment("SLUICE_CHAOS_LIVES", 1);
  std::map<std::string, int> faults;
  for (uint64_t seed = first;
       seed < first + lives && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Life life(seed, std::type_identity<Lasting>());
    life.Live(kFaults);
    for (const auto& [name, count] : life.faults()) faults[name] += count;
  }
  int sum = 0;
  for (const auto& [name, count] : faults) {
    LOG(INFO) << count << " times in all: " << name;
    sum += count;
  }
  LOG(INFO) << sum << " faults";
}

TEST(ReplicasChaos, NothingThatACallWasAnsweredIsLostAndNeverDoTwoLead) {
  LiveLives<LastingCalls>(1);
}

TEST(ReplicasChaos, NothingThatAFeedWasToldIsLostAndNeverDoTwoLead) {
  LiveLives<LastingFeed>(2);
}

}  // namespace
}  // namespace sluice
