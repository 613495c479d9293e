#include "etcd/etcd_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "unit/etcd/etcd_fixture.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(EtcdRecords, NamesKeysInTheOrderOfTheirNumbers) {
  EXPECT_EQ(ChunkNumber(0), "0000000000000000000");
  EXPECT_LT(ChunkNumber(9), ChunkNumber(10));
  EXPECT_EQ(NumberAfter('/', "x/log/" + ChunkNumber(42)), 42);
  EXPECT_EQ(NumberAfter('-', "7-3"), 3);
  EXPECT_EQ(NumberAfter('/', "5"), 5);
  EXPECT_EQ(NumberAfter('-', "7-"), -1);
  EXPECT_EQ(NumberAfter('-', "7-x"), -1);
  EXPECT_EQ(NumberAfter('-', "7--1"), 1);
  EXPECT_EQ(EndOf("a/"), "a0");
  EXPECT_EQ(EndOf("a\xff"), "b");
}

TEST(EtcdRecords, DoesWhatItsLogSaysChunkByChunk) {
  etcdserverpb::TxnRequest chunk;
  etcdserverpb::PutRequest& put = *chunk.add_success()->mutable_request_put();
  put.set_key("a");
  put.set_value("2");
  chunk.add_success()->mutable_request_delete_range()->set_key("b");
  EtcdRecords records = {.number = 4,
                         .values = {{"a", "1"}, {"b", "1"}, {"c", "1"}},
                         .log = {{5, chunk.SerializeAsString()}, {6, "\x01"}}};
  ASSERT_THAT(records.Advance(), IsOk());
  EXPECT_EQ(records.number, 5);
  EXPECT_THAT(records.values, ElementsAre(Pair("a", "2"), Pair("c", "1")));
  EXPECT_THAT(records.Advance(), StatusIs(absl::StatusCode::kDataLoss,
                                          HasSubstr("chunk 6 of the log")));
  records.log.erase(6);
  EXPECT_THAT(records.Advance(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(records.number, 5);
  EXPECT_EQ(records.values.size(), 2u);
}

TEST(EtcdRecords, VisitsValuesAndJoinsThoseThatAreInParts) {
  const EtcdRecords records = {.values = {{"x/data/a", "1"},
                                          {"x/data/b", ""},
                                          {"x/data/b1", ""},
                                          {"x/data/c", ""},
                                          {PartKey("x/", "b", 0), "long "},
                                          {PartKey("x/", "b", 1), "value"},
                                          {PartKey("x/", "b1", 0), "other"}}};
  const auto scan = [&](std::string_view prefix) {
    std::vector<std::string> found;
    EXPECT_THAT(records.Scan("x/", prefix,
                             [&](std::string_view key, std::string_view value) {
                               found.push_back(StrCat(key, "=", value));
                               return absl::OkStatus();
                             }),
                IsOk());
    return found;
  };
  EXPECT_THAT(scan(""), ElementsAre("a=1", "b=long value", "b1=other", "c="));
  EXPECT_THAT(scan("b"), ElementsAre("b=long value", "b1=other"));
  EXPECT_THAT(scan("d"), ElementsAre());
}

TEST(EtcdRecords, NamesPartsInTheOrderOfTheirNumbers) {
  EXPECT_EQ(PartKey("x/", "b", 0x01020304), "x/parts/b\1\2\3\4");
  EXPECT_LT(PartKey("x/", "b", 255), PartKey("x/", "b", 256));
}

TEST(EtcdRecords, NoticesThatAPartIsMissing) {
  const auto scan = [](const EtcdRecords& records) {
    return records.Scan(
        "x/", "", [](std::string_view /*key*/, std::string_view /*value*/) {
          return absl::OkStatus();
        });
  };
  EXPECT_THAT(
      scan({.values = {{"x/data/b", ""}, {PartKey("x/", "b", 1), "p"}}}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'b' has 0 of 1 parts")));
  EXPECT_THAT(
      scan({.values = {{"x/parts/b", "p"}}}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("belongs to no value")));
}

class EtcdPagesTest : public EtcdFixture {};

TEST_F(EtcdPagesTest, ReadsAllPagesAtOneRevision) {
  const std::string prefix = Prefix() + "/";
  const auto client = MakeClient(SharedEtcd().Address(prefix + "x"));
  const auto put = [&](const std::string& key) {
    etcdserverpb::TxnRequest request;
    request.add_success()->mutable_request_put()->set_key(prefix + key);
    ASSERT_THAT(client->Txn(request), IsOk());
  };
  for (int i = 100; i < 300; ++i) put(StrCat(i));
  etcdserverpb::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(EndOf(prefix));
  std::vector<std::string> keys;
  ASSERT_THAT(ReadPages(*client, &request,
                        [&](const std::string& key, const std::string&) {
                          if (keys.empty()) put("2999");
                          keys.push_back(key);
                          return absl::OkStatus();
                        }),
              IsOk());
  ASSERT_EQ(keys.size(), 200u);
  EXPECT_EQ(keys.front(), prefix + "100");
  EXPECT_EQ(keys.back(), prefix + "299");
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_GT(request.revision(), 0);
}

}  // namespace
}  // namespace sluice
