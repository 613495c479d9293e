// A daemon that is killed at any moment has forgotten nothing that it had
// acknowledged, and lost no placement.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "etcd/etcd_address.h"
#include "etcd/etcd_client.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "unit/persist/temporary_directory.h"
#include "util/etcd_server.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

// What a client knows for certain, and what only may be so because the daemon
// was killed before it answered.
class ClientModel {
 public:
  void BeginSubmit(uint64_t uid) { uncertain_.insert(uid); }
  void EndSubmit(uint64_t uid) {
    uncertain_.erase(uid);
    tasks_.insert(uid);
  }
  void BeginRemove(uint64_t uid) {
    tasks_.erase(uid);
    uncertain_.insert(uid);
  }
  void EndRemove(uint64_t uid) {
    uncertain_.erase(uid);
    places_.erase(uid);
  }

  // A reply, of a daemon that may have given it before.
  void TakeReply(const firmament::SchedulingDeltas& reply) {
    for (const auto& [uid, place] : PlacesOf(reply)) {
      EXPECT_TRUE(tasks_.contains(uid) || uncertain_.contains(uid))
          << "task " << uid << " was removed";
      const auto [it, is_new] = places_.emplace(uid, place);
      EXPECT_EQ(it->second, place) << "task " << uid << " moved";
    }
  }

  // Compares everything with what the daemon says it has.
  void Check(Client* client) {
    const std::map<uint64_t, v1::Task> stored = TasksOf(client);
    for (const uint64_t uid : tasks_) {
      EXPECT_TRUE(stored.contains(uid)) << "task " << uid << " is forgotten";
    }
    for (const auto& [uid, task] : stored) {
      EXPECT_TRUE(tasks_.contains(uid) || uncertain_.contains(uid))
          << "task " << uid << " came back";
      const auto place = places_.find(uid);
      if (task.state() != v1::Task::RUNNING) {
        EXPECT_EQ(place, places_.end()) << "placement of " << uid << " lost";
      } else if (place != places_.end()) {
        EXPECT_EQ(place->second, task.resource_id()) << "task " << uid;
      } else {
        EXPECT_TRUE(uncertain_.contains(uid))
            << "nobody was told of the placement of " << uid;
      }
    }
    // Asked once, it is certain.
    for (const uint64_t uid : std::exchange(uncertain_, {})) {
      if (stored.contains(uid)) {
        tasks_.insert(uid);
      } else {
        places_.erase(uid);
      }
    }
  }

  const std::set<uint64_t>& tasks() const { return tasks_; }

 private:
  static std::map<uint64_t, v1::Task> TasksOf(Client* client) {
    std::map<uint64_t, v1::Task> tasks;
    v1::ListTasksRequest request;
    do {
      grpc::ClientContext context;
      v1::ListTasksResponse page;
      EXPECT_TRUE(client->inspector().ListTasks(&context, request, &page).ok());
      for (const v1::Task& task : page.tasks()) tasks[task.uid()] = task;
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return tasks;
  }

  std::set<uint64_t> tasks_;
  std::set<uint64_t> uncertain_;
  std::map<uint64_t, std::string> places_;
};

enum class Place { kDirectory, kEtcd };

class RestartTest : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam() == Place::kDirectory) return;
    if (!EtcdServer::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd here: scripts/install-deps --test";
    }
    etcd_.emplace();
    etcd_client_ =
        EtcdClient::Make(
            {.address = ParseEtcdAddress(etcd_->Address("/sluice")).value()})
            .value();
  }

  std::string StoreFlag() const {
    if (etcd_.has_value()) return "--store=" + etcd_->Address("/sluice");
    return "--data_dir=" + directory_.path();
  }

  void Start(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> all = {"--listen_address=127.0.0.1:0",
                                    "--http_address=", StoreFlag()};
    all.insert(all.end(), flags.begin(), flags.end());
    daemon_.emplace(all);
    const int port = daemon_->AwaitReady();
    ASSERT_NE(port, 0) << daemon_->log();
    client_.emplace(port);
  }
  void Kill() {
    daemon_->Signal(SIGKILL);
    EXPECT_EQ(daemon_->AwaitEnd(), -SIGKILL);
    if (etcd_client_ == nullptr) return;
    // Its lease would end by itself, but not soon.
    etcdserverpb::RangeRequest request;
    request.set_key("/sluice/leader");
    const auto leader = etcd_client_->Range(request);
    ASSERT_EQ(leader->kvs_size(), 1);
    EXPECT_THAT(etcd_client_->RevokeLease(leader->kvs(0).lease(), 5000),
                IsOk());
  }

  // One call, drawn at random, that is answered.
  void CallAtRandom() {
    const uint64_t kind = rng_.Below(10);
    if (kind < 5) {
      const uint64_t uid = next_uid_++;
      EXPECT_EQ(client_->Submit(TaskMessage(uid, {.cpu = 30})),
                firmament::TASK_SUBMITTED_OK);
      model_.EndSubmit(uid);
    } else if (kind < 8 && !model_.tasks().empty()) {
      const uint64_t uid = AnyTask();
      model_.BeginRemove(uid);
      EXPECT_EQ(client_->Remove(uid), firmament::TASK_REMOVED_OK);
      model_.EndRemove(uid);
    } else {
      model_.TakeReply(client_->Schedule());
    }
  }

  // Begins calls, drawn at random, and kills the daemon before it is known
  // whether they were answered.
  void KillDuringCalls() {
    grpc::CompletionQueue queue;
    const uint64_t submitted = next_uid_++;
    const bool may_remove = !model_.tasks().empty();
    const uint64_t removed = may_remove ? AnyTask() : ~uint64_t{0};
    auto submit = Begin<firmament::TaskSubmittedResponse>(
        &Stub::PrepareAsyncTaskSubmitted, TaskMessage(submitted, {.cpu = 30}),
        &queue);
    model_.BeginSubmit(submitted);
    firmament::TaskUID uid;
    uid.set_task_uid(removed);
    auto remove = Begin<firmament::TaskRemovedResponse>(
        &Stub::PrepareAsyncTaskRemoved, uid, &queue);
    if (may_remove) model_.BeginRemove(removed);
    auto schedule = Begin<firmament::SchedulingDeltas>(
        &Stub::PrepareAsyncSchedule, firmament::ScheduleRequest(), &queue);
    constexpr uint64_t kCalls = 3;
    const uint64_t answered = rng_.Below(kCalls);
    void* tag = nullptr;
    bool is_ok = false;
    for (uint64_t i = 0; i < kCalls; ++i) {
      if (i == answered) Kill();
      queue.Next(&tag, &is_ok);
    }
    if (submit->status.ok()) model_.EndSubmit(submitted);
    if (schedule->status.ok()) model_.TakeReply(schedule->response);
    if (remove->status.ok() && may_remove) model_.EndRemove(removed);
  }

  Rng rng_{20240612};
  const TemporaryDirectory directory_;
  std::optional<EtcdServer> etcd_;
  std::unique_ptr<EtcdClient> etcd_client_;
  std::optional<DaemonProcess> daemon_;
  std::optional<Client> client_;
  ClientModel model_;

 private:
  using Stub = firmament::FirmamentScheduler::Stub;

  template <class Response>
  struct AsyncCall {
    grpc::ClientContext context;
    grpc::Status status;
    Response response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
  };

  template <class Response, class Prepare, class Request>
  std::unique_ptr<AsyncCall<Response>> Begin(Prepare prepare,
                                             const Request& request,
                                             grpc::CompletionQueue* queue) {
    auto call = std::make_unique<AsyncCall<Response>>();
    call->reader =
        (client_->scheduler().*prepare)(&call->context, request, queue);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call.get());
    return call;
  }

  uint64_t AnyTask() {
    return *std::next(
        model_.tasks().begin(),
        static_cast<ptrdiff_t>(rng_.Below(model_.tasks().size())));
  }

  uint64_t next_uid_ = 1;
};

INSTANTIATE_TEST_SUITE_P(Stores, RestartTest,
                         testing::Values(Place::kDirectory, Place::kEtcd));

TEST_P(RestartTest, NothingAcknowledgedIsForgottenByADaemonKilledBetweenCalls) {
  ASSERT_NO_FATAL_FAILURE(Start());
  for (int i = 0; i < 4; ++i) {
    client_->AddNode(NodeMessage(StrCat("n", i), {.cpu = 600}));
  }
  for (int life = 0; life < 6; ++life) {
    for (uint64_t i = rng_.Below(40); i > 0; --i) CallAtRandom();
    Kill();
    ASSERT_NO_FATAL_FAILURE(Start());
    EXPECT_EQ(client_->Status().machines(), 4);
    model_.TakeReply(client_->Schedule());
    model_.Check(&*client_);
  }
}

TEST_P(RestartTest, NothingAcknowledgedIsForgottenByADaemonKilledDuringCalls) {
  ASSERT_NO_FATAL_FAILURE(Start());
  for (int i = 0; i < 4; ++i) {
    client_->AddNode(NodeMessage(StrCat("n", i), {.cpu = 600}));
  }
  for (int life = 0; life < 12; ++life) {
    for (uint64_t i = rng_.Below(8); i > 0; --i) CallAtRandom();
    KillDuringCalls();
    ASSERT_NO_FATAL_FAILURE(Start());
    model_.TakeReply(client_->Schedule());
    model_.Check(&*client_);
  }
}

TEST_P(RestartTest, WhatWasRememberedOfANodeThatWentOutlivesTheDaemon) {
  ASSERT_NO_FATAL_FAILURE(Start());
  client_->AddNode(NodeMessage("n", {.cpu = 1000}));
  client_->Submit(TaskMessage(1, {.cpu = 500}));
  client_->AddInfo(ForeignPodMessage("pod/ns", "n", 400, 0));
  client_->Schedule();
  client_->RemoveNode("n");
  Kill();
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(client_->AddNode(NodeMessage("n", {.cpu = 1000})),
            firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 900);
  EXPECT_EQ(client_->Remove(1), firmament::TASK_REMOVED_OK);
}

TEST_P(RestartTest, WhatAFailedNodeRanWaitsAlsoAfterADeath) {
  const std::vector<std::string> flags = {"--reschedule_failed_nodes"};
  ASSERT_NO_FATAL_FAILURE(Start(flags));
  client_->AddNode(NodeMessage("n", {.cpu = 1000}));
  client_->Submit(TaskMessage(1, {.cpu = 500}));
  client_->Schedule();
  EXPECT_EQ(client_->FailNode("n"), firmament::NODE_FAILED_OK);
  Kill();
  ASSERT_NO_FATAL_FAILURE(Start(flags));
  client_->AddNode(NodeMessage("m", {.cpu = 1000}));
  EXPECT_THAT(PlacesOf(client_->Schedule()),
              testing::ElementsAre(testing::Pair(1, PuOf("m"))));
  client_->AddNode(NodeMessage("n", {.cpu = 1000}));
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 500);
}

}  // namespace
}  // namespace sluice
