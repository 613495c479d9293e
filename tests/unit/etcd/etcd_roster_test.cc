#include "etcd/etcd_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>

#include "unit/etcd/etcd_fixture.h"
#include "util/captured_log.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class EtcdRosterTest : public EtcdFixture {
 protected:
  void SetUp() override {
    EtcdFixture::SetUp();
    if (IsSkipped()) return;
    client_ = MakeClient(SharedEtcd().Address(Prefix() + "-roster"));
    prefix_ = client_->address().prefix;
  }

  std::unique_ptr<EtcdRoster> Make(const std::string& address,
                                   int64_t lease_s = 2) {
    return std::make_unique<EtcdRoster>(
        *client_, clock_,
        EtcdRoster::Options{.address = address, .lease_s = lease_s});
  }
  void PutRaw(const std::string& key, const std::string& value,
              int64_t lease = 0) {
    etcdserverpb::TxnRequest request;
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key(prefix_ + key);
    put.set_value(value);
    put.set_lease(lease);
    ASSERT_THAT(client_->Txn(request), IsOk());
  }
  // The followers with their lags, such as "a=1 b=-1 ".
  std::string Followers(const EtcdRoster& roster) {
    std::string all;
    for (const EtcdRoster::Follower& follower : roster.followers()) {
      all += StrCat(follower.address, "=", follower.lag, " ");
    }
    return all;
  }
  bool HasKey(const std::string& address) {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_ + "/followers/" + address);
    return client_->Range(request)->kvs_size() > 0;
  }

  const SystemClock clock_;
  std::unique_ptr<EtcdClient> client_;
  std::string prefix_;
};

TEST_F(EtcdRosterTest, TellsTheLeaderWhoFollowsAndHowFar) {
  PutRaw("/head", "5-10");
  const auto leader = Make("l:1");
  leader->SetLeads(true);
  auto first = Make("a:1");
  const auto second = Make("b:1");
  first->SetNumber(10);
  EXPECT_TRUE(Eventually([&] { return Followers(*leader) == "a:1=0 b:1=-1 "; }))
      << Followers(*leader);
  EXPECT_FALSE(HasKey("l:1"));
  PutRaw("/head", "5-13");
  EXPECT_TRUE(Eventually([&] { return Followers(*leader) == "a:1=3 b:1=-1 "; }))
      << Followers(*leader);
  second->SetNumber(13);
  first.reset();
  EXPECT_TRUE(Eventually([&] { return Followers(*leader) == "b:1=0 "; }))
      << Followers(*leader);
  EXPECT_THAT(leader->status(), IsOk());
  EXPECT_THAT(second->status(), IsOk());
}

TEST_F(EtcdRosterTest, MeasuresWhereHistoryIsCompacted) {
  PutRaw("/head", "5-10");
  PutRaw("/followers/a:1", "8");
  PutRaw("/head", "5-12");
  etcdserverpb::RangeRequest request;
  request.set_key(prefix_);
  Compact(*client_, client_->Range(request)->header().revision());
  const auto leader = Make("l:1");
  leader->SetLeads(true);
  EXPECT_TRUE(Eventually([&] { return Followers(*leader) == "a:1=4 "; }))
      << Followers(*leader);
}

TEST_F(EtcdRosterTest, TakesItsOwnKeyOverFromALifeBefore) {
  PutRaw("/head", "5-9");
  const auto lease = client_->GrantLease(5);
  ASSERT_THAT(lease, IsOk());
  PutRaw("/followers/a:1", "7", lease->lease);
  // It waits for longer than what is left of the other lease.
  const auto roster = Make("a:1", /*lease_s=*/12);
  roster->SetNumber(9);
  const auto leader = Make("l:1");
  leader->SetLeads(true);
  EXPECT_TRUE(Eventually([&] { return Followers(*leader) == "a:1=0 "; }))
      << Followers(*leader);
  EXPECT_THAT(roster->status(), IsOk());
}

TEST_F(EtcdRosterTest, FindsAnotherFollowerOfItsAddress) {
  const auto first = Make("a:1", /*lease_s=*/20);
  ASSERT_TRUE(Eventually([&] { return HasKey("a:1"); }));
  const auto second = Make("a:1");
  EXPECT_TRUE(Eventually([&] { return !second->status().ok(); }));
  EXPECT_THAT(second->status(),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       AllOf(HasSubstr(prefix_),
                             HasSubstr("also has the address a:1"))));
  EXPECT_THAT(first->status(), IsOk());
}

TEST_F(EtcdRosterTest, CountsNoTimeInWhichEtcdIsSilent) {
  EtcdServer own;
  client_ = MakeClient(own.Address("/own"), 1000);
  prefix_ = client_->address().prefix;
  // As if etcd renewed the lease of a life before.
  PutRaw("/followers/a:1", "7");
  const CapturedLog log;
  const auto roster = Make("a:1", /*lease_s=*/5);
  const auto has_logged = [&](std::string_view text) {
    return Eventually([&] {
      return testing::Matches(Contains(HasSubstr(std::string(text))))(
          log.lines());
    });
  };
  ASSERT_TRUE(has_logged("the address a:1 is taken"));
  own.Signal(SIGSTOP);
  const int64_t silent_us = clock_.MonotonicUs();
  const int64_t limit_us = 6'500'000;  // The lease and the time to end it.
  ASSERT_TRUE(
      Eventually([&] { return clock_.MonotonicUs() > silent_us + limit_us; }));
  EXPECT_THAT(roster->status(), IsOk());
  const int64_t answers_us = clock_.MonotonicUs();
  own.Signal(SIGCONT);
  EXPECT_TRUE(Eventually([&] { return !roster->status().ok(); }));
  EXPECT_GT(clock_.MonotonicUs(), answers_us + limit_us);
}

TEST_F(EtcdRosterTest, WaitsAnewWhereEtcdHasAnotherLeader) {
  EtcdServer own;
  client_ = MakeClient(own.Address("/own"), 1000);
  prefix_ = client_->address().prefix;
  PutRaw("/followers/a:1", "7");
  const CapturedLog log;
  const auto roster = Make("a:1", /*lease_s=*/5);
  ASSERT_TRUE(Eventually([&] { return !log.lines().empty(); }));
  const int64_t taken_us = clock_.MonotonicUs();
  ASSERT_TRUE(
      Eventually([&] { return clock_.MonotonicUs() > taken_us + 1'000'000; }));
  const int64_t killed_us = clock_.MonotonicUs();
  own.Kill();
  own.Start();  // In its next term.
  EXPECT_TRUE(Eventually([&] { return !roster->status().ok(); }));
  EXPECT_GT(clock_.MonotonicUs(), killed_us + 6'500'000);
}

TEST_F(EtcdRosterTest, FindsALeaderOfItsAddress) {
  PutRaw("/leader", "a:1");
  const auto follower = Make("a:1");
  EXPECT_TRUE(Eventually([&] { return !follower->status().ok(); }));
  EXPECT_THAT(follower->status(), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(EtcdRosterTest, MakesItsKeyAnewWhereItsLeaseIsTakenAway) {
  const auto follower = Make("a:1", /*lease_s=*/10);
  ASSERT_TRUE(Eventually([&] { return HasKey("a:1"); }));
  etcdserverpb::RangeRequest request;
  request.set_key(prefix_ + "/followers/a:1");
  const int64_t lease = client_->Range(request)->kvs(0).lease();
  ASSERT_THAT(client_->RevokeLease(lease, 20000), IsOk());
  EXPECT_TRUE(Eventually([&] { return HasKey("a:1"); }));
  EXPECT_THAT(follower->status(), IsOk());
}

}  // namespace
}  // namespace sluice
