#include "etcd/etcd_leadership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "unit/etcd/etcd_fixture.h"
#include "util/captured_log.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

MATCHER_P(IsOkAndHolds, value, "") {
  *result_listener << arg.status().ToString();
  return arg.ok() && *arg == value;
}

class EtcdLeadershipTest : public EtcdFixture {
 protected:
  struct Candidate {
    std::unique_ptr<EtcdClient> client;
    std::unique_ptr<EtcdLeadership> leadership;
  };
  Candidate MakeCandidate(const std::string& address, const std::string& name,
                          int64_t lease_s = 10) {
    Candidate candidate{.client = MakeClient(address), .leadership = nullptr};
    candidate.leadership = std::make_unique<EtcdLeadership>(
        *candidate.client, clock_,
        EtcdLeadershipOptions{.name = name, .lease_s = lease_s});
    return candidate;
  }

  // Ends it.  Whether etcd answered in time.
  static bool Resigned(Candidate* candidate) {
    const CapturedLog log;
    candidate->leadership.reset();
    return testing::Value(log.lines(), Not(Contains(HasSubstr("resigning:"))));
  }

  // The lease of the leader's key.
  static int64_t LeaseOf(EtcdClient& client, const Fence& fence) {
    etcdserverpb::RangeRequest request;
    request.set_key(fence.key);
    const auto response = client.Range(request);
    EXPECT_EQ(response->kvs_size(), 1);
    EXPECT_EQ(response->kvs(0).create_revision(), fence.create_revision);
    return response->kvs(0).lease();
  }

  const SystemClock clock_;
};

TEST_F(EtcdLeadershipTest, IsOfTheFirstWhoAsks) {
  const std::string address = SharedEtcd().Address(Prefix());
  const Candidate a = MakeCandidate(address, "a 10.0.0.1:9090");
  const Candidate b = MakeCandidate(address, "b 10.0.0.2:9090");
  EXPECT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  EXPECT_TRUE(a.leadership->leads());
  EXPECT_EQ(a.leadership->holder(), "a 10.0.0.1:9090");
  EXPECT_THAT(b.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_FALSE(b.leadership->leads());
  EXPECT_EQ(b.leadership->holder(), "a 10.0.0.1:9090");
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kUnavailable,
                           [&] { return b.leadership->AwaitVacancy(50); }),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(EtcdLeadershipTest, GoesToWhoWaitsWhenTheHolderResigns) {
  for (int attempts = 1;; ++attempts) {
    const std::string address = SharedEtcd().Address(Prefix());
    Candidate a = MakeCandidate(address, "a", /*lease_s=*/60);
    const Candidate b = MakeCandidate(address, "b");
    ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
    const Fence first = a.leadership->fence();
    ASSERT_THAT(b.leadership->Campaign(), IsOkAndHolds(false));
    if (!Resigned(&a) && attempts < 5) continue;
    EXPECT_THAT(b.leadership->AwaitVacancy(20000), IsOk());
    EXPECT_THAT(b.leadership->Campaign(), IsOkAndHolds(true));
    EXPECT_EQ(b.leadership->fence().key, first.key);
    EXPECT_GT(b.leadership->fence().create_revision, first.create_revision);
    return;
  }
}

TEST_F(EtcdLeadershipTest, IsKeptForLongerThanALease) {
  const std::string address = SharedEtcd().Address(Prefix());
  const Candidate a = MakeCandidate(address, "a", /*lease_s=*/8);
  const Candidate b = MakeCandidate(address, "b");
  ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  const Fence fence = a.leadership->fence();
  ASSERT_THAT(b.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_THAT(b.leadership->AwaitVacancy(12000),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(a.leadership->leads());
  EXPECT_EQ(a.leadership->fence().create_revision, fence.create_revision);
  EXPECT_LE(a.leadership->valid_until_us(), clock_.MonotonicUs() + 9000000);
}

TEST_F(EtcdLeadershipTest, IsLostWithItsLease) {
  const std::string address = SharedEtcd().Address(Prefix());
  const Candidate a = MakeCandidate(address, "a", /*lease_s=*/9);
  const Candidate b = MakeCandidate(address, "b");
  ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  ASSERT_THAT(b.leadership->Campaign(), IsOkAndHolds(false));
  ASSERT_THAT(
      b.client->RevokeLease(LeaseOf(*b.client, a.leadership->fence()), 10000),
      IsOk());
  EXPECT_THAT(b.leadership->AwaitVacancy(20000), IsOk());
  EXPECT_THAT(b.leadership->Campaign(), IsOkAndHolds(true));
  EXPECT_TRUE(Eventually([&] { return a.leadership->is_lost(); }));
  EXPECT_FALSE(a.leadership->leads());
  EXPECT_THAT(a.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_EQ(a.leadership->holder(), "b");
}

TEST_F(EtcdLeadershipTest, EndsByTheClockWhileEtcdIsSilent) {
  EtcdServer server;
  const Candidate a = MakeCandidate(server.Address("/a"), "a", /*lease_s=*/6);
  ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  server.Signal(SIGSTOP);
  EXPECT_TRUE(Eventually([&] { return !a.leadership->leads(); }));
  EXPECT_FALSE(a.leadership->is_lost());
  server.Signal(SIGCONT);
  // etcd may or may not have ended the lease by now.
  EXPECT_TRUE(Eventually(
      [&] { return a.leadership->is_lost() || a.leadership->leads(); }));
}

TEST_F(EtcdLeadershipTest, SurvivesThatEtcdIsStartedAgain) {
  EtcdServer server;
  const Candidate a = MakeCandidate(server.Address("/a"), "a", /*lease_s=*/15);
  ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  const Fence fence = a.leadership->fence();
  server.Kill();
  server.Start();
  const int64_t valid_until_us = a.leadership->valid_until_us();
  EXPECT_TRUE(Eventually(
      [&] { return a.leadership->valid_until_us() > valid_until_us; }));
  EXPECT_NE(LeaseOf(*a.client, fence), 0);
}

TEST_F(EtcdLeadershipTest, FindsAHolderSilentByTheLeaseThatEtcdGranted) {
  const std::string address = SharedEtcd().Address(Prefix());
  Candidate a = MakeCandidate(address, "a");
  const Candidate b = MakeCandidate(address, "b", /*lease_s=*/1);
  // Longer than that of those who wait, as if etcd had granted more.
  const auto lease = a.client->GrantLease(12);
  ASSERT_THAT(lease, IsOk());
  etcdserverpb::TxnRequest request;
  auto& put = *request.add_success()->mutable_request_put();
  put.set_key(a.client->address().prefix + "/leader");
  put.set_value("silent");
  put.set_lease(lease->lease);
  ASSERT_THAT(a.client->Txn(request), IsOk());
  ASSERT_THAT(b.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_TRUE(Eventually([&] { return b.leadership->IsHolderSilent(10000); }));
  const auto left = a.client->TimeToLive(lease->lease, 10000);
  ASSERT_THAT(left, IsOk());
  EXPECT_GT(left->ttl_s, 0);  // It has not ended yet.
}

TEST_F(EtcdLeadershipTest, SaysOnceThatAKeyWithoutALeaseIsInTheWay) {
  const std::string prefix = Prefix();
  const Candidate a = MakeCandidate(SharedEtcd().Address(prefix), "a");
  etcdserverpb::TxnRequest request;
  auto& put = *request.add_success()->mutable_request_put();
  put.set_key(prefix + "/leader");
  put.set_value("by hand");
  ASSERT_THAT(a.client->Txn(request), IsOk());
  const CapturedLog log;
  EXPECT_THAT(a.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_THAT(a.leadership->Campaign(), IsOkAndHolds(false));
  EXPECT_THAT(log.lines(),
              ElementsAre(AllOf(
                  HasSubstr("'by hand'"),
                  HasSubstr(StrCat("`etcdctl del ", prefix, "/leader`")))));
}

TEST_F(EtcdLeadershipTest, SaysThatItsKeyHasLostItsLease) {
  const std::string prefix = Prefix();
  const Candidate a =
      MakeCandidate(SharedEtcd().Address(prefix), "a", /*lease_s=*/6);
  const CapturedLog log;
  ASSERT_THAT(a.leadership->Campaign(), IsOkAndHolds(true));
  etcdserverpb::TxnRequest request;
  auto& put = *request.add_success()->mutable_request_put();
  put.set_key(a.leadership->fence().key);
  put.set_value("by hand");
  ASSERT_THAT(a.client->Txn(request), IsOk());
  // A renewal that is late is logged, too.
  const auto has_no_lease = [&] {
    int64_t count = 0;
    for (const std::string& line : log.lines()) {
      if (line.find("has no lease") != std::string::npos) ++count;
    }
    return count;
  };
  EXPECT_TRUE(Eventually([&] { return has_no_lease() > 0; }));
  EXPECT_EQ(has_no_lease(), 1);
  EXPECT_TRUE(a.leadership->leads());
}

TEST_F(EtcdLeadershipTest, CannotBeHadWithoutEtcd) {
  const auto client = MakeClient("etcd://127.0.0.1:1/a", 500);
  EtcdLeadership leadership(*client, clock_, {.name = "a"});
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                           [&] { return leadership.Campaign(); }),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(leadership.leads());
}

}  // namespace
}  // namespace sluice
