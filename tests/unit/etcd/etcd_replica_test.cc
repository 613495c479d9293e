#include "etcd/etcd_replica.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "unit/etcd/etcd_fixture.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EtcdReplicaTest : public EtcdFixture {
 protected:
  std::unique_ptr<EtcdReplica> Make() {
    return EtcdReplica::Make(
               {.client = OptionsFor(address_, 2000), .lease_s = 2})
        .value();
  }
  // Leads as `name`, on a thread of its own; `leaders` is whom it follows.
  static std::future<absl::Status> Lead(EtcdReplica& replica,
                                        const std::string& name,
                                        std::vector<std::string>* leaders) {
    return std::async(std::launch::async, [&replica, name, leaders] {
      return replica.Lead(name, [leaders](const std::string& leader) {
        leaders->push_back(leader);
      });
    });
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
  auto waiting = Lead(*second, "b", &second_leaders);
  WriteBatch batch;
  batch.Put("k", "v");
  ASSERT_THAT(first->Write(batch, Durability::kSynced), IsOk());
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  first.reset();
  ASSERT_THAT(waiting.get(), IsOk());
  EXPECT_EQ(second_leaders.front(), "a");
  EXPECT_EQ(second_leaders.back(), "b");
  std::string found;
  EXPECT_THAT(second->Scan("",
                           [&](std::string_view key, std::string_view value) {
                             found += StrCat(key, "=", value);
                             return absl::OkStatus();
                           }),
              IsOk());
  EXPECT_EQ(found, "k=v");
}

TEST_F(EtcdReplicaTest, EndsBeforeItsLeaseWhereThatCannotBeKept) {
  EtcdServer own;
  address_ = own.Address("/own");
  auto replica = Make();
  std::vector<std::string> leaders;
  ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
  own.Signal(SIGSTOP);
  EXPECT_THAT(replica->AwaitEnd(),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("could not be kept alive, and ends")));
  // The lease itself has not ended yet.
  EXPECT_THAT(replica->CheckHeld(), IsOk());
  EXPECT_TRUE(Eventually([&] { return !replica->CheckHeld().ok(); }));
  own.Signal(SIGCONT);
}

TEST_F(EtcdReplicaTest, EndsWhereItsLeaseIsTakenAway) {
  auto replica = Make();
  std::vector<std::string> leaders;
  ASSERT_THAT(Lead(*replica, "a", &leaders).get(), IsOk());
  const auto client = MakeClient(address_);
  etcdserverpb::RangeRequest request;
  request.set_key(client->address().prefix + "/leader");
  const int64_t lease = client->Range(request)->kvs(0).lease();
  ASSERT_THAT(client->RevokeLease(lease, 5000), IsOk());
  EXPECT_THAT(replica->AwaitEnd(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("has ended")));
  EXPECT_THAT(replica->CheckHeld(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("deposed: ")));
}

TEST_F(EtcdReplicaTest, EndsWhereItsKeyIsDeleted) {
  auto replica = Make();
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

}  // namespace
}  // namespace sluice
