// The daemon and the client of a feed lose each other at every message of a
// conversation: the connection is cut there, or the daemon is killed.  The
// client comes back with nothing but its cluster, states it, and in the end
// both know the same and every task runs in one place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/strings.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/feed_client.h"
#include "unit/persist/temporary_directory.h"

namespace sluice {
namespace {

enum class Loss { kConnection, kDaemon };

// A bridge in front of a cluster of its own.
class Bridge {
 public:
  // Sends so many messages, and then nothing arrives any more.
  Bridge(int port, int messages_max)
      : feed_(port, "shop"), messages_max_(messages_max) {}

  // Whether it has come to the end of what it had to say.
  bool Play() {
    const NodeFields node = {.cpu = 4000};
    machines_ = {"m0", "m1"};
    feed_.BeginSnapshot();
    for (const std::string& uuid : machines_) feed_.AddMachine(uuid, node);
    if (!Send()) return false;
    if (!Add("a") || !Add("b")) return false;
    feed_.EndSnapshot();
    if (!Send() || !Bind("a") || !Bind("b")) return false;
    if (!Add("c")) return false;
    tasks_.erase("b");
    feed_.TaskGone("b");
    if (!Send() || !Refuse("c") || !Bind("c")) return false;
    tasks_.erase("a");
    feed_.Add()->mutable_task_ended()->set_id("a");
    feed_.TaskGone("a");
    if (!Send() || !Add("d") || !Bind("d")) return false;
    return feed_.Settle();
  }

  // What is there, as a client says that begins anew; and binds what it is
  // told.
  void StateAll(const Bridge& former) {
    tasks_ = former.tasks_;
    machines_ = former.machines_;
    feed_.BeginSnapshot();
    for (const std::string& uuid : machines_) {
      feed_.AddMachine(uuid, {.cpu = 4000});
    }
    for (const auto& [id, machine] : tasks_) {
      feed_.AddTask(id, {.cpu = 1000}, machine);
    }
    feed_.EndSnapshot();
    ASSERT_TRUE(feed_.Settle());
    const std::map<std::string, std::string> tasks = tasks_;
    for (const auto& [id, machine] : tasks) {
      if (machine.empty()) {
        ASSERT_TRUE(Bind(id));
      }
    }
    ASSERT_TRUE(feed_.Settle());
  }

  void Cut() { feed_.Cut(); }
  const std::map<std::string, std::string>& tasks() const { return tasks_; }

 private:
  // False where the connection is to be lost now.
  bool Send() {
    if (messages_max_-- == 0) return false;
    return feed_.Flush();
  }
  bool Add(const std::string& id) {
    tasks_[id] = "";
    feed_.AddTask(id, {.cpu = 1000});
    return Send();
  }
  bool AwaitPlace(const std::string& id) {
    while (!feed_.Places().contains(id)) {
      if (!feed_.Read()) return false;
    }
    return true;
  }
  bool Bind(const std::string& id) {
    if (!AwaitPlace(id)) return false;
    if (messages_max_-- == 0 || !feed_.Confirm()) return false;
    tasks_[id] = feed_.Places().at(id);
    feed_.AddTask(id, {.cpu = 1000}, tasks_[id]);
    return Send();
  }
  bool Refuse(const std::string& id) {
    if (!AwaitPlace(id)) return false;
    v1::BindFailed* failed = feed_.Add()->mutable_bind_failed();
    failed->set_id(id);
    failed->set_machine(feed_.Places().at(id));
    const size_t told = feed_.deltas().size();
    return Send() && feed_.AwaitDeltas(told + 1);
  }

  FeedClient feed_;
  int messages_max_;
  std::set<std::string> machines_;
  std::map<std::string, std::string> tasks_;  // And where each is bound.
};

// Where the daemon believes that the tasks run.
std::map<std::string, std::string> TasksOf(Client* client) {
  std::map<std::string, std::string> tasks;
  grpc::ClientContext context;
  v1::ListTasksResponse response;
  EXPECT_TRUE(client->inspector()
                  .ListTasks(&context, v1::ListTasksRequest(), &response)
                  .ok());
  for (const v1::Task& task : response.tasks()) {
    tasks[task.feed_task_id()] = task.machine_uuid();
  }
  return tasks;
}

class FeedLife : public testing::TestWithParam<Loss> {};

TEST_P(FeedLife, GoesOnWhereverTheyLoseEachOther) {
  bool has_ended = false;
  for (int messages = 0; !has_ended; ++messages) {
    SCOPED_TRACE(StrCat("after ", messages, " messages"));
    ASSERT_LT(messages, 100);
    const TemporaryDirectory directory;
    const std::vector<std::string> flags = {
        "--listen_address=127.0.0.1:0",
        "--http_address=", StrCat("--data_dir=", directory.path(), "/store")};
    auto daemon = std::make_unique<DaemonProcess>(flags);
    int port = daemon->AwaitReady();
    auto former = std::make_unique<Bridge>(port, messages);
    has_ended = former->Play();
    if (GetParam() == Loss::kConnection) {
      former->Cut();
    } else {
      daemon->Signal(SIGKILL);
      daemon->AwaitEnd();
      daemon = std::make_unique<DaemonProcess>(flags);
      port = daemon->AwaitReady();
    }
    Bridge bridge(port, /*messages_max=*/1000);
    bridge.StateAll(*former);
    Client client(port);
    EXPECT_EQ(TasksOf(&client), bridge.tasks());
    EXPECT_EQ(client.Status().undelivered_deltas(), 0);
    former.reset();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, FeedLife,
                         testing::Values(Loss::kConnection, Loss::kDaemon),
                         [](const auto& loss) {
                           return loss.param == Loss::kDaemon ? "KilledDaemon"
                                                              : "CutConnection";
                         });

}  // namespace
}  // namespace sluice
