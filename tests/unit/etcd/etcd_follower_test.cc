#include "etcd/etcd_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/rng.h"
#include "etcd/etcd_store.h"
#include "unit/etcd/etcd_fixture.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Values = std::map<std::string, std::string>;

Values ScanAll(const Store& store) {
  Values values;
  EXPECT_THAT(store.Scan("",
                         [&](std::string_view key, std::string_view value) {
                           values.emplace(key, value);
                           return absl::OkStatus();
                         }),
              IsOk());
  return values;
}

// A leader with its store, and a follower with a connection of its own.
class EtcdFollowerTest : public EtcdFixture {
 protected:
  void SetUp() override {
    EtcdFixture::SetUp();
    if (!IsSkipped()) Begin(SharedEtcd().Address(Prefix() + "-follower"));
  }
  void TearDown() override {
    store_.reset();
    leadership_.reset();
  }

  void Begin(const std::string& address) {
    store_.reset();
    leadership_.reset();
    leader_ = MakeClient(address, 30000);
    prefix_ = leader_->address().prefix;
    client_ = MakeClient(address);
    follower_.reset();
    Lead();
  }

  // Starts another term, with another leader.
  void Lead(std::optional<EtcdRecords> known = std::nullopt) {
    store_.reset();
    leadership_.reset();
    leadership_.emplace(*leader_, clock_, EtcdLeadershipOptions{.name = "a"});
    // The leader before may have gone without an answer.
    ASSERT_TRUE(Eventually([&] {
      const absl::StatusOr<bool> leads = leadership_->Campaign();
      return leads.ok() && *leads;
    }));
    auto store =
        OpenEtcdStore(*leader_, leadership_->fence(), std::move(known));
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  void Follow() { follower_ = std::make_unique<EtcdFollower>(*client_); }
  bool AwaitNumber(int64_t number) {
    return Eventually([&] { return follower_->number() == number; });
  }
  // The last committed chunk.
  int64_t Head() {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_ + "/head");
    return NumberAfter('-', leader_->Range(request)->kvs(0).value());
  }

  void Put(const std::string& key, const std::string& value) {
    WriteBatch batch;
    batch.Put(key, value);
    ASSERT_THAT(store_->Write(batch, Durability::kSynced), IsOk());
  }
  void PutRaw(const std::string& key, const std::string& value) {
    etcdserverpb::TxnRequest request;
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key(prefix_ + key);
    put.set_value(value);
    ASSERT_THAT(leader_->Txn(request), IsOk());
  }
  int64_t Revision() {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_);
    return leader_->Range(request)->header().revision();
  }

  // What the follower holds, by the store's keys.
  Values Take() {
    known_ = follower_->Take();
    Values values;
    if (!known_.has_value()) return {{"", "not known"}};
    const size_t above = prefix_.size() + 6;
    for (const auto& [key, value] : known_->values) {
      if (key.starts_with(prefix_ + "/data/"))
        values[key.substr(above)] = value;
    }
    return values;
  }

  const SystemClock clock_;
  std::string prefix_;
  std::unique_ptr<EtcdClient> leader_;
  std::unique_ptr<EtcdClient> client_;
  std::optional<EtcdLeadership> leadership_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EtcdFollower> follower_;
  std::optional<EtcdRecords> known_;
};

TEST_F(EtcdFollowerTest, HasWhatWasThereAndWhatIsWrittenMeanwhile) {
  Put("a", "1");
  Put("b", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(2));
  Put("b", "2");
  WriteBatch batch;
  batch.Delete("a");
  batch.Put("c", "3");
  ASSERT_THAT(store_->Write(batch, Durability::kSynced), IsOk());
  ASSERT_TRUE(AwaitNumber(4));
  EXPECT_THAT(Take(), ElementsAre(Pair("b", "2"), Pair("c", "3")));
}

TEST_F(EtcdFollowerTest, FollowsAnEmptyStoreAndOneThatIsNotThereYet) {
  Begin(SharedEtcd().Address(Prefix() + "-empty"));
  Follow();
  ASSERT_TRUE(AwaitNumber(0));
  Put("a", "1");
  ASSERT_TRUE(AwaitNumber(1));
  EXPECT_THAT(Take(), ElementsAre(Pair("a", "1")));
}

TEST_F(EtcdFollowerTest, TakesTheReadingThatIsUnderWay) {
  Put("a", "1");
  Follow();
  EXPECT_THAT(Take(), ElementsAre(Pair("a", "1")));
}

// Batches have many sizes and chunks, and drains run meanwhile.  The next
// leader finds the same with a follower's records as without them.
TEST_F(EtcdFollowerTest, MakesNoDifferenceToWhoLeadsNext) {
  Rng rng(17);
  Follow();
  int64_t last = 0;
  for (int term = 0; term < 4; ++term) {
    for (int i = 0; i < 60; ++i) {
      WriteBatch batch;
      const size_t count = 1 + rng.Below(i % 10 == 0 ? 4000 : 30);
      for (size_t k = 0; k < count; ++k) {
        const std::string key = StrCat("k", rng.Below(9000));
        if (rng.Below(4) == 0) {
          batch.Delete(key);
        } else {
          batch.Put(key, StrCat(++last, std::string(rng.Below(900), '.')));
        }
      }
      if (i == 20) batch.Put("large", std::string(1100000 + term, 'x'));
      if (i == 40 && term % 2 == 1) batch.Delete("large");
      ASSERT_THAT(store_->Write(batch, Durability::kSynced), IsOk());
    }
    const Values expected = ScanAll(*store_);
    // Sometimes the follower lags behind.
    if (term % 2 == 0) {
      ASSERT_TRUE(AwaitNumber(Head()));
    }
    std::optional<EtcdRecords> known = follower_->Take();
    ASSERT_TRUE(known.has_value());
    Lead(std::move(known));
    const Values found = ScanAll(*store_);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_TRUE(found == expected) << term;
    Follow();
    Put("first", StrCat(term));
    EXPECT_EQ(ScanAll(*store_).at("first"), StrCat(term));
  }
}

TEST_F(EtcdFollowerTest, ALeaderReadsAnewWhereThatIsTooOld) {
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  ASSERT_THAT(Take(), ElementsAre(Pair("a", "1")));
  // A lot passes through the log meanwhile.
  for (int i = 0; i < 40; ++i) Put(StrCat("b", i), std::string(450000, 'x'));
  const auto oldest = [&] {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_ + "/log/");
    request.set_range_end(prefix_ + "/log0");
    request.set_limit(1);
    const auto found = leader_->Range(request);
    // A drain that has just ended may have left nothing.
    if (found->kvs_size() == 0) return std::numeric_limits<int64_t>::max();
    return NumberAfter('/', found->kvs(0).key());
  };
  ASSERT_TRUE(Eventually([&] {
    Put("c", "1");
    return oldest() > 2;
  }));
  const Values expected = ScanAll(*store_);
  Lead(std::move(known_));
  EXPECT_TRUE(ScanAll(*store_) == expected);
}

TEST_F(EtcdFollowerTest, ScansAskEtcdAgainAfterAWrite) {
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  Lead(follower_->Take());
  // A store without known records would read this.
  PutRaw("/data/b", "elsewhere");
  EXPECT_THAT(ScanAll(*store_), ElementsAre(Pair("a", "1")));
  Put("c", "1");
  EXPECT_EQ(ScanAll(*store_).size(), 3u);
}

TEST_F(EtcdFollowerTest, ForgetsWhatAnotherTermSweptFromTheLog) {
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  // Half of a batch of a deposed leader.
  PutRaw("/log/" + ChunkNumber(2), "never counted");
  Lead();
  Put("b", "2");
  ASSERT_TRUE(AwaitNumber(2));
  EXPECT_THAT(Take(), ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(EtcdFollowerTest, GoesOnOverADamagedLogOnceThatIsMended) {
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  PutRaw("/head", "no head at all");
  ASSERT_TRUE(AwaitNumber(-1));
  PutRaw("/head", "7-3");
  PutRaw("/head", "7-1");
  ASSERT_TRUE(AwaitNumber(1));
  // A chunk that cannot be read.
  PutRaw("/log/" + ChunkNumber(2), "damaged");
  PutRaw("/head", "7-2");
  ASSERT_TRUE(AwaitNumber(-1));
  EXPECT_THAT(Take(), ElementsAre(Pair("", "not known")));
}

TEST_F(EtcdFollowerTest, GoesOnOverAnEtcdThatIsKilled) {
  EtcdServer own;
  Begin(own.Address("/own"));
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  for (int round = 0; round < 3; ++round) {
    own.Kill();
    own.Start();
    Put("b", StrCat(round));
    ASSERT_TRUE(AwaitNumber(2 + round));
  }
  EXPECT_THAT(Take(), ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(EtcdFollowerTest, ReadsAnewWhereHistoryIsCompactedUnderIt) {
  EtcdServer own;
  Begin(own.Address("/own"));
  Put("a", "1");
  Follow();
  ASSERT_TRUE(AwaitNumber(1));
  // The follower hears of nothing until all of it is compacted.
  own.Kill();
  follower_.reset();
  own.Start();
  Follow();
  for (int i = 0; i < 50; ++i) {
    Put("b", StrCat(i));
    Compact(*leader_, Revision());
  }
  ASSERT_TRUE(AwaitNumber(51));
  own.Kill();
  own.Start();
  Put("c", "1");
  Compact(*leader_, Revision());
  ASSERT_TRUE(AwaitNumber(52));
  EXPECT_THAT(Take(),
              ElementsAre(Pair("a", "1"), Pair("b", "49"), Pair("c", "1")));
}

TEST_F(EtcdFollowerTest, EndsWhileEtcdIsAway) {
  const auto lost = MakeClient("etcd://127.0.0.1:1/x", 300);
  EtcdFollower follower(*lost);
  EXPECT_FALSE(follower.Take().has_value());
  EXPECT_EQ(follower.number(), -1);
}

}  // namespace
}  // namespace sluice
