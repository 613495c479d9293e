#include "etcd/etcd_replica.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "etcd/etcd_store.h"
#include "sluice/base/clock.h"
#include "unit/etcd/etcd_fixture.h"
#include "util/status_matchers.h"
#include "util/tcp_proxy.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EtcdReplicaTest : public EtcdFixture {
 protected:
  std::unique_ptr<EtcdReplica> Make(int64_t lease_s = 60) {
    return EtcdReplica::Make(
               {.client = OptionsFor(address_), .lease_s = lease_s})
        .value();
  }
  // Leads as `name`, on a thread of its own; `leaders` are those it follows.
  static std::future<absl::Status> Lead(
      EtcdReplica& replica, const std::string& name,
      std::vector<std::string>* leaders,
      std::function<absl::Status()> prepare = absl::OkStatus) {
    return std::async(std::launch::async, [&replica, name, leaders, prepare] {
      const auto on_leader = [leaders](const std::string& leader) {
        leaders->push_back(leader);
      };
      return replica.Lead(name, {.on_leader = on_leader, .prepare = prepare});
    });
  }

  // Ends the term of a leader that has gone, where etcd did not answer that in
  // time.
  static void EndTermOf(const std::string& name, EtcdClient& client) {
    const auto leader = LeaderIn(client);
    if (leader.value() != name) return;
    ASSERT_THAT(client.RevokeLease(leader.lease(), 20000), IsOk());
  }

  // The leader's key; empty if there is none.
  static mvccpb::KeyValue LeaderIn(EtcdClient& client) {
    return Find(client, "/leader");
  }
  static mvccpb::KeyValue Find(EtcdClient& client, const std::string& key) {
    etcdserverpb::RangeRequest request;
    request.set_key(client.address().prefix + key);
    const auto found = client.Range(request);
    EXPECT_THAT(found, IsOk());
    if (!found.ok() || found->kvs_size() == 0) return {};
    return found->kvs(0);
  }

  // As the silent leader.
  static absl::Status WriteAs(const Fence& leader, const std::string& value,
                              EtcdClient& client) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                     OpenEtcdStore(client, leader));
    WriteBatch batch;
    batch.Put("k", value);
    return store->Write(batch, Durability::kSynced);
  }

  // A leader writes k=v and goes, and a leader takes its place that is silent:
  // replicas prepare in the second half of its lease.  Returns that lease,
  // which tests end once they have seen that.
  int64_t LeaveASilentLeader(EtcdClient& client) {
    auto first = Make();
    std::vector<std::string> ignored;
    EXPECT_THAT(Lead(*first, "a", &ignored).get(), IsOk());
    WriteBatch batch;
    batch.Put("k", "v");
    EXPECT_THAT(first->Write(batch, Durability::kSynced), IsOk());
    first.reset();
    const auto lease = client.GrantLease(12);
    EXPECT_THAT(lease, IsOk());
    etcdserverpb::TxnRequest request;
    etcdserverpb::PutRequest& put =
        *request.add_success()->mutable_request_put();
    put.set_key(client.address().prefix + "/leader");
    put.set_value("silent");
    put.set_lease(lease->lease);
    EXPECT_THAT(client.Txn(request), IsOk());
    return lease->lease;
  }

  static std::string ValuesOf(const Store& store) {
    std::string values;
    EXPECT_THAT(store.Scan("",
                           [&](std::string_view key, std::string_view value) {
                             values += StrCat(key, "=", value, " ");
                             return absl::OkStatus();
                           }),
                IsOk());
    return values;
  }

  EtcdServer& etcd() {
    static EtcdServer etcd;
    return etcd;
  }

  void SetUp() override {
    EtcdFixture::SetUp();
    if (!IsSkipped()) address_ = etcd().Address(Prefix() + "-replica");
  }

  std::string address_;
};

TEST_F(EtcdReplicaTest, LeadsAfterTheOneBeforeAndFindsWhatThatWrote) {
  auto first = Make();
  auto second = Make();
  std::vector<std::string> first_leaders;
  std::vector<std::string> second_leaders;
  ASSERT_THAT(Lead(*first, "a", &first_leaders).get(), IsOk());
  EXPECT_THAT(first_leaders, ElementsAre("a"));
  EXPECT_THAT(first->CheckHeld(), IsOk());
  std::promise<void> follows;
  std::atomic<int> preparations = 0;
  auto waiting = std::async(std::launch::async, [&] {
    const auto on_leader = [&](const std::string& leader) {
      if (second_leaders.empty()) follows.set_value();
      second_leaders.push_back(leader);
    };
    const auto prepare = [&] {
      ++preparations;
      return absl::OkStatus();
    };
    return second->Lead("b", {.on_leader = on_leader, .prepare = prepare});
  });
  WriteBatch batch;
  batch.Put("k", "v");
  ASSERT_THAT(first->Write(batch, Durability::kSynced), IsOk());
  EXPECT_EQ(follows.get_future().wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  EXPECT_EQ(preparations, 0);  // The first was never silent.
  first.reset();
  EndTermOf("a", *MakeClient(address_));
  ASSERT_THAT(waiting.get(), IsOk());
  EXPECT_EQ(second_leaders.front(), "a");
  EXPECT_EQ(second_leaders.back(), "b");
  EXPECT_EQ(ValuesOf(*second), "k=v ");
  // It prepares where it looks for the lease before it hears of the key.
  EXPECT_EQ(second->is_prepared(), preparations > 0);
}

TEST_F(EtcdReplicaTest, PreparesWhileTheLeaderIsSilent) {
  const auto client = MakeClient(address_);
  const int64_t lease = LeaveASilentLeader(*client);
  auto replica = Make();
  std::vector<std::string> leaders;
  std::vector<std::string> prepared;  // Again if etcd answers late.
  ASSERT_THAT(Lead(*replica, "b", &leaders,
                   [&] {
                     prepared.push_back(ValuesOf(*replica));
                     return client->RevokeLease(lease, 20000);
                   })
                  .get(),
              IsOk());
  EXPECT_THAT(leaders, ElementsAre("silent", "b"));
  EXPECT_THAT(prepared, AllOf(Not(IsEmpty()), Each("k=v ")));
  EXPECT_TRUE(replica->is_prepared());
  EXPECT_EQ(ValuesOf(*replica), "k=v ");
}

TEST_F(EtcdReplicaTest, IsNotPreparedWhereThatFailed) {
  const auto client = MakeClient(address_);
  const int64_t lease = LeaveASilentLeader(*client);
  auto replica = Make();
  std::vector<std::string> leaders;
  int preparations = 0;
  ASSERT_THAT(Lead(*replica, "b", &leaders,
                   [&] {
                     ++preparations;
                     EXPECT_THAT(client->RevokeLease(lease, 20000), IsOk());
                     return absl::DataLossError("damaged");
                   })
                  .get(),
              IsOk());
  EXPECT_GT(preparations, 0);
  EXPECT_FALSE(replica->is_prepared());
}

TEST_F(EtcdReplicaTest, IsNotPreparedWhereASilentLeaderWroteOnceMore) {
  const auto client = MakeClient(address_);
  const int64_t lease = LeaveASilentLeader(*client);
  const mvccpb::KeyValue leader = LeaderIn(*client);
  ASSERT_EQ(leader.value(), "silent");
  auto replica = Make();
  std::vector<std::string> leaders;
  std::vector<std::string> prepared;
  const auto prepare = [&] {
    prepared.push_back(ValuesOf(*replica));
    if (prepared.size() == 1) {
      EXPECT_THAT(
          WriteAs({leader.key(), leader.create_revision()}, "w", *client),
          IsOk());
    }
    return client->RevokeLease(lease, 20000);
  };
  ASSERT_THAT(Lead(*replica, "b", &leaders, prepare).get(), IsOk());
  ASSERT_FALSE(prepared.empty());
  EXPECT_EQ(prepared.front(), "k=v ");
  // If etcd answers late, it prepares again, and then from this.
  EXPECT_EQ(replica->is_prepared(), prepared.back() == "k=w ");
  EXPECT_EQ(ValuesOf(*replica), "k=w ");
}

TEST_F(EtcdReplicaTest, FollowsOnWhereASilentLeaderIsHeardOfAgain) {
  const auto client = MakeClient(address_);
  const int64_t lease = LeaveASilentLeader(*client);
  auto replica = Make();
  std::vector<std::string> leaders;
  std::atomic<int> preparations = 0;
  auto waiting = Lead(*replica, "b", &leaders, [&] {
    ++preparations;
    return absl::OkStatus();
  });
  ASSERT_TRUE(Eventually([&] { return preparations > 0; }));
  // The leader is followed while it keeps its lease: what it writes is seen.
  const auto keep = [&] {
    EXPECT_THAT(client->KeepAlive(lease, 10000), IsOk());
  };
  keep();
  const mvccpb::KeyValue leader = LeaderIn(*client);
  ASSERT_EQ(leader.value(), "silent");
  ASSERT_THAT(WriteAs({leader.key(), leader.create_revision()}, "w", *client),
              IsOk());
  ASSERT_TRUE(Eventually([&] {
    keep();
    return Find(*client, "/followers/b").value() == "2";
  }));
  const int preparations_before = preparations;
  const SystemClock clock;
  const int64_t until_us = clock.MonotonicUs() + 1'000'000;
  ASSERT_TRUE(Eventually([&] {
    keep();
    return clock.MonotonicUs() > until_us;
  }));
  EXPECT_EQ(preparations, preparations_before);
  // Then it falls silent again.
  ASSERT_TRUE(Eventually([&] { return preparations > preparations_before; }));
  ASSERT_THAT(client->RevokeLease(lease, 20000), IsOk());
  ASSERT_THAT(waiting.get(), IsOk());
  EXPECT_TRUE(replica->is_prepared());
  EXPECT_EQ(ValuesOf(*replica), "k=w ");
}

TEST_F(EtcdReplicaTest, EndsBeforeItsLeaseWhereThatCannotBeKept) {
  absl::Status held;
  // Half a second is left in which the lease itself has not ended yet.
  for (int attempts = 0; attempts < 5; ++attempts) {
    EtcdServer own;
    address_ = own.Address("/own");
    auto replica = Make(/*lease_s=*/6);
    std::vector<std::string> leaders;
    ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
    own.Signal(SIGSTOP);
    const absl::Status end = replica->AwaitEnd();
    held = replica->CheckHeld();
    EXPECT_THAT(
        end,
        StatusIs(absl::StatusCode::kAborted,
                 HasSubstr("could not be kept alive and is about to end")));
    EXPECT_TRUE(Eventually([&] { return !replica->CheckHeld().ok(); }));
    own.Signal(SIGCONT);
    if (held.ok()) break;
  }
  EXPECT_THAT(held, IsOk());
}

TEST_F(EtcdReplicaTest, EndsWhereItsLeaseIsTakenAway) {
  // It asks for its lease after a third of it.
  auto replica = Make(/*lease_s=*/9);
  std::vector<std::string> leaders;
  ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
  const auto client = MakeClient(address_);
  const mvccpb::KeyValue leader = LeaderIn(*client);
  ASSERT_EQ(leader.value(), "a");
  ASSERT_THAT(client->RevokeLease(leader.lease(), 20000), IsOk());
  EXPECT_THAT(replica->AwaitEnd(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("has ended")));
  EXPECT_THAT(replica->CheckHeld(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("deposed: ")));
}

TEST_F(EtcdReplicaTest, EndsWhereItsKeyIsDeleted) {
  auto replica = Make(/*lease_s=*/9);
  std::vector<std::string> leaders;
  ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
  const auto client = MakeClient(address_);
  etcdserverpb::TxnRequest request;
  request.add_success()->mutable_request_delete_range()->set_key(
      client->address().prefix + "/leader");
  ASSERT_THAT(client->Txn(request), IsOk());
  EXPECT_THAT(replica->AwaitEnd(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("has ended")));
}

TEST_F(EtcdReplicaTest, EndsWithTheReasonWhereEtcdWasSetBack) {
  // With a backup that has its lease, and with one that does not.
  for (const bool has_lease : {true, false}) {
    EtcdServer own;
    address_ = own.Address("/own");
    const auto client = MakeClient(address_);
    etcdserverpb::TxnRequest any;
    any.add_success()->mutable_request_put()->set_key("/any");
    const std::string data = own.directory() + "/data";
    const auto back_up = [&] {
      own.Kill();
      std::filesystem::copy(data, data + "-old",
                            std::filesystem::copy_options::recursive);
      own.Start();
    };
    ASSERT_THAT(client->Txn(any), IsOk());
    if (!has_lease) back_up();
    auto replica =
        EtcdReplica::Make({.client = OptionsFor(address_), .lease_s = 40})
            .value();
    std::vector<std::string> leaders;
    ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
    if (has_lease) back_up();
    for (int i = 0; i < 10; ++i) ASSERT_THAT(client->Txn(any), IsOk());
    EXPECT_EQ(ValuesOf(*replica), "");  // So it has seen these revisions.
    own.Kill();
    std::filesystem::remove_all(data);
    std::filesystem::rename(data + "-old", data);
    own.Start();
    EXPECT_THAT(replica->AwaitEnd(),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr("was it restored from an old backup?")));
    EXPECT_THAT(replica->CheckHeld(), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(EtcdReplicaTest, StopsWhereverItWaits) {
  auto leader = Make();
  auto follower = Make();
  std::vector<std::string> leaders;
  std::vector<std::string> ignored;
  ASSERT_THAT(Lead(*leader, "a", &ignored).get(), IsOk());
  auto end = std::async(std::launch::async, [&] { return leader->AwaitEnd(); });
  auto waiting = Lead(*follower, "b", &leaders);
  follower->Stop();
  leader->Stop();
  EXPECT_THAT(waiting.get(), StatusIs(absl::StatusCode::kCancelled, "stopped"));
  EXPECT_THAT(end.get(), IsOk());
  address_ = "etcd://127.0.0.1:1/x";
  auto lost = Make();
  waiting = Lead(*lost, "c", &leaders);
  lost->Stop();
  EXPECT_THAT(waiting.get(), StatusIs(absl::StatusCode::kCancelled, "stopped"));
}

// A call that waits for a silent etcd takes ten seconds; an end takes one, but
// a busy machine may take its time.
constexpr int64_t kEndUs = 8'000'000;

class EtcdReplicaEndTest : public EtcdReplicaTest {
 protected:
  void SetUp() override {
    EtcdReplicaTest::SetUp();
    if (IsSkipped()) return;
    const std::string& endpoint = etcd().endpoint();
    network_.emplace(std::atoi(endpoint.c_str() + endpoint.find(':') + 1));
    address_ =
        StrCat("etcd://127.0.0.1:", network_->port(), Prefix(), "-replica");
    replica_ =
        EtcdReplica::Make({.client = OptionsFor(address_), .lease_s = 10})
            .value();
  }
  void Silence() { network_->SetMode(TcpProxy::Mode::kIsSilent); }
  // Ends the replica and returns how long that took.
  int64_t EndUs() {
    const int64_t begin_us = clock_.MonotonicUs();
    replica_->Stop();
    if (leading_.valid()) {
      EXPECT_THAT(leading_.get(),
                  StatusIs(absl::StatusCode::kCancelled, "stopped"));
    }
    replica_.reset();
    return clock_.MonotonicUs() - begin_us;
  }

  const SystemClock clock_;
  std::optional<TcpProxy> network_;
  std::unique_ptr<EtcdReplica> replica_;
  std::vector<std::string> leaders_;
  std::future<absl::Status> leading_;
};

TEST_F(EtcdReplicaEndTest, IsQuickWhereItCannotCampaign) {
  Silence();
  leading_ = Lead(*replica_, "a", &leaders_);
  EXPECT_EQ(leading_.wait_for(std::chrono::milliseconds(300)),
            std::future_status::timeout);
  EXPECT_LT(EndUs(), kEndUs);
}

TEST_F(EtcdReplicaEndTest, IsQuickWhereItFollows) {
  auto leader = EtcdReplica::Make({.client = OptionsFor(address_)}).value();
  ASSERT_THAT(Lead(*leader, "l", &leaders_).get(), IsOk());
  std::atomic<bool> follows = false;
  leading_ = std::async(std::launch::async, [&] {
    const auto on_leader = [&](const std::string& /*leader*/) {
      follows = true;
    };
    return replica_->Lead("a",
                          {.on_leader = on_leader, .prepare = absl::OkStatus});
  });
  ASSERT_TRUE(Eventually([&] { return follows.load(); }));
  Silence();
  EXPECT_LT(EndUs(), kEndUs);
}

TEST_F(EtcdReplicaEndTest, IsQuickWhereItLeads) {
  ASSERT_THAT(Lead(*replica_, "a", &leaders_).get(), IsOk());
  Silence();
  EXPECT_LT(EndUs(), kEndUs);
}

TEST_F(EtcdReplicaEndTest, LeavesAWriteThatIsCancelledUnknown) {
  ASSERT_THAT(Lead(*replica_, "a", &leaders_).get(), IsOk());
  WriteBatch known;
  known.Put("known", "1");
  ASSERT_THAT(replica_->Write(known, Durability::kSynced), IsOk());
  network_->SetMode(TcpProxy::Mode::kLosesAnswers);
  auto write = std::async(std::launch::async, [&] {
    WriteBatch batch;
    batch.Put("unknown", "1");
    return replica_->Write(batch, Durability::kSynced);
  });
  EXPECT_EQ(write.wait_for(std::chrono::milliseconds(300)),
            std::future_status::timeout);
  replica_->Stop();  // A leader still writes.
  EXPECT_EQ(write.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  const int64_t begin_us = clock_.MonotonicUs();
  replica_->Cancel();
  EXPECT_THAT(write.get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(replica_->Write(known, Durability::kSynced),
              StatusIs(absl::StatusCode::kCancelled));
  replica_.reset();
  EXPECT_LT(clock_.MonotonicUs() - begin_us, kEndUs);
  // etcd has executed it, and whoever leads next finds it.
  network_->SetMode(TcpProxy::Mode::kForwards);
  auto next = EtcdReplica::Make({.client = OptionsFor(address_)}).value();
  ASSERT_THAT(Lead(*next, "b", &leaders_).get(), IsOk());
  EXPECT_EQ(ValuesOf(*next), "known=1 unknown=1 ");
}

}  // namespace
}  // namespace sluice
