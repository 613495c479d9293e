#include "etcd/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <string_view>
#include <thread>

#include "base/rng.h"
#include "unit/etcd/etcd_fixture.h"
#include "unit/etcd/lone_store.h"
#include "unit/persist/child_process.h"
#include "unit/persist/store_contract.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

// Nothing makes it shorter.
std::string Noise(size_t size) {
  Rng rng(1);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(rng.Below(256));
  return bytes;
}

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Waits for a holder that has gone but could not say so in time.
absl::StatusOr<std::unique_ptr<Store>> TryOpen(
    const std::string& address, const std::string& name = "tester",
    int64_t vacancy_timeout_ms = 20000) {
  return OpenLoneStore({.client = OptionsFor(address, 30000),
                        .leadership = {.name = name},
                        .vacancy_timeout_ms = vacancy_timeout_ms});
}

std::unique_ptr<Store> Open(const std::string& address) {
  absl::StatusOr<std::unique_ptr<Store>> store = TryOpen(address);
  EXPECT_THAT(store, IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

std::unique_ptr<Store> OpenForContract(const std::string& directory) {
  if (!EtcdServer::IsInstalled()) return nullptr;
  return Open(
      SharedEtcd().Address(directory.substr(directory.find_last_of('/'))));
}

INSTANTIATE_TEST_SUITE_P(Etcd, StoreContract,
                         testing::Values(&OpenForContract));

class EtcdStoreTest : public EtcdFixture {
 protected:
  void SetUp() override {
    EtcdFixture::SetUp();
    if (IsSkipped()) return;
    prefix_ = Prefix();
    address_ = SharedEtcd().Address(prefix_);
    client_ = MakeClient(address_);
  }

  void PutRaw(const std::string& key, const std::string& value) {
    etcdserverpb::TxnRequest request;
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key(prefix_ + key);
    put.set_value(value);
    ASSERT_THAT(client_->Txn(request), IsOk());
  }

  // The value of PREFIX`key` as it is stored.
  std::string Raw(const std::string& key) {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_ + key);
    const auto found = client_->Range(request);
    return found->kvs_size() > 0 ? found->kvs(0).value() : "";
  }

  // The number of keys below PREFIX`key`.
  int64_t Count(const std::string& key) {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix_ + key);
    request.set_range_end(prefix_ + key + "\xff");
    request.set_count_only(true);
    return client_->Range(request)->count();
  }

  // Writes 25,000 entries, more than stay in the log.
  void FillPlaces(Store* store);

  std::string prefix_;
  std::string address_;
  std::unique_ptr<EtcdClient> client_;
};

// Ends the leader's lease, as if its time had passed.
void Depose(EtcdClient& client) {
  etcdserverpb::RangeRequest request;
  request.set_key(client.address().prefix + "/leader");
  const auto leader = client.Range(request);
  ASSERT_THAT(leader, IsOk());
  if (leader->kvs_size() == 0) return;
  ASSERT_THAT(client.RevokeLease(leader->kvs(0).lease(), 20000), IsOk());
}

absl::Status Put(const std::string& key, const std::string& value,
                 Store* store) {
  WriteBatch batch;
  batch.Put(key, value);
  return store->Write(batch, Durability::kSynced);
}

TEST_F(EtcdStoreTest, HoldsWhatItHeldWhenItIsOpenedAgain) {
  {
    const std::unique_ptr<Store> store = Open(address_);
    ASSERT_THAT(Put("a", "1", store.get()), IsOk());
    ASSERT_THAT(Put("b", "2", store.get()), IsOk());
  }
  EXPECT_THAT(ScanAll(*Open(address_)),
              ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(EtcdStoreTest, IsDescribedByItsAddress) {
  EXPECT_EQ(Open(address_)->description(), address_);
}

TEST_F(EtcdStoreTest, KnowsNothingOfOtherPrefixes) {
  const std::unique_ptr<Store> a = Open(address_);
  const std::unique_ptr<Store> b = Open(address_ + "0");
  ASSERT_THAT(Put("key", "a", a.get()), IsOk());
  ASSERT_THAT(Put("key", "b", b.get()), IsOk());
  EXPECT_THAT(ScanAll(*a), ElementsAre(Pair("key", "a")));
  EXPECT_THAT(ScanAll(*b), ElementsAre(Pair("key", "b")));
}

TEST_F(EtcdStoreTest, RefusesASecondOpenerAndNamesTheFirst) {
  const std::unique_ptr<Store> store =
      TryOpen(address_, "sluice-0 10.0.0.1:9090").value();
  EXPECT_THAT(TryOpen(address_, "sluice-1", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(address_),
                             HasSubstr("held by 'sluice-0 10.0.0.1:9090'"))));
}

TEST_F(EtcdStoreTest, WaitsForAHolderThatGoes) {
  std::unique_ptr<Store> store = Open(address_);
  absl::StatusOr<std::unique_ptr<Store>> second;
  std::thread opener([&] { second = TryOpen(address_, "second"); });
  store.reset();
  opener.join();
  EXPECT_THAT(second, IsOk());
}

TEST_F(EtcdStoreTest, RefusesAnotherFormat) {
  PutRaw("/format", "3");
  EXPECT_THAT(TryOpen(address_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       StrCat(address_,
                              ": has format '3', but this version reads "
                              "formats 1 and 2")));
}

TEST_F(EtcdStoreTest, ReadsWhatWasWrittenBeforeItCompressed) {
  etcdserverpb::TxnRequest chunk;
  auto& put = *chunk.add_success()->mutable_request_put();
  put.set_key(prefix_ + "/data/b");
  put.set_value(std::string(1000, 'b'));
  PutRaw("/format", "1");
  PutRaw("/data/a", std::string(1000, 'a'));
  PutRaw("/head", "5-1");
  PutRaw("/log/0000000000000000001", chunk.SerializeAsString());
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<Store> store = Open(address_);
    EXPECT_THAT(ScanAll(*store),
                ElementsAre(Pair("a", std::string(1000, 'a')),
                            Pair("b", std::string(1000, 'b'))));
    // A daemon of before refuses it from now on.
    EXPECT_EQ(Raw("/format"), "2");
  }
}

TEST_F(EtcdStoreTest, CompressesItsLogAndWhatIsInItsPlaces) {
  const std::unique_ptr<Store> store = Open(address_);
  const std::string value(100000, 'x');
  ASSERT_THAT(Put("first", value, store.get()), IsOk());
  EXPECT_LT(Raw("/log/0000000000000000001").size(), 1000u);
  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(Put("other", std::string(450000, 'x'), store.get()), IsOk());
    return Count("/data/first") == 1;
  }));
  EXPECT_LT(Raw("/data/first").size(), 1000u);
  EXPECT_THAT(ScanAll(*store, "first"), ElementsAre(Pair("first", value)));
}

TEST_F(EtcdStoreTest, NamesAValueThatIsDamaged) {
  PutRaw("/format", "2");
  PutRaw("/data/a", "\x28\xb5\x2f\xfd and no frame");
  const auto store = TryOpen(address_);
  ASSERT_THAT(store, IsOk());
  EXPECT_THAT(
      (*store)->Scan("", [](std::string_view,
                            std::string_view) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kDataLoss,
               HasSubstr(StrCat("'", prefix_, "/data/a' is damaged"))));
}

TEST_F(EtcdStoreTest, RefusesDataOfSomethingElse) {
  PutRaw("/data/x", "2");
  EXPECT_THAT(TryOpen(address_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("data without a format")));
}

TEST_F(EtcdStoreTest, CannotBeOpenedWithoutEtcd) {
  const LoneStoreOptions options = {
      .client = OptionsFor("etcd://127.0.0.1:1/x", 500),
      .leadership = {.name = "a"}};
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                           [&] { return OpenLoneStore(options); }),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("etcd://127.0.0.1:1/x"),
                             HasSubstr("does etcd run there"))));
}

// `count` keys; each value is `number`, followed by `bytes` other bytes.
WriteBatch LargeBatch(int64_t number, int count, size_t bytes) {
  WriteBatch batch;
  for (int i = 0; i < count; ++i) {
    batch.Put(StrCat("key", i), StrCat(number) + std::string(bytes, '.'));
  }
  return batch;
}

void EtcdStoreTest::FillPlaces(Store* store) {
  ASSERT_THAT(store->Write(LargeBatch(1, 25000, 10), Durability::kSynced),
              IsOk());
  ASSERT_TRUE(Eventually([&] { return Count("/data/") == 25000; }));
  // The drain ends when its part of the log is gone; this write notices.
  ASSERT_TRUE(Eventually([&] { return Count("/log/") == 0; }));
  ASSERT_THAT(Put("other", "", store), IsOk());
}

TEST_F(EtcdStoreTest, TakesBatchesOfAnySize) {
  const std::unique_ptr<Store> store = Open(address_);
  const struct {
    int count;
    size_t bytes;
  } sizes[] = {{1, 0},       {126, 0},     {127, 0},    {128, 10},
               {129, 10},    {2, 499980},  {2, 500020}, {3, 499000},
               {3600, 10},   {3601, 10},   {2000, 0},   {2000, 2600},
               {20, 480000}, {20, 600000}, {7000, 100}};
  int64_t number = 0;
  for (const auto& [count, bytes] : sizes) {
    ASSERT_THAT(
        store->Write(LargeBatch(++number, count, bytes), Durability::kSynced),
        IsOk())
        << count << " of " << bytes;
    const Entries entries = ScanAll(*store, "key");
    int found = 0;
    for (const auto& [key, value] : entries) {
      if (value == StrCat(number) + std::string(bytes, '.')) ++found;
    }
    EXPECT_EQ(found, count) << bytes;
  }
}

TEST_F(EtcdStoreTest, PutsWhatIsInItsLogInItsPlaces) {
  const std::unique_ptr<Store> store = Open(address_);
  for (int number = 0; number < 200; ++number) {
    ASSERT_THAT(store->Write(LargeBatch(number, 500 + number, 200),
                             Durability::kSynced),
                IsOk());
  }
  // Most of the log is gone, and all keys are there.
  EXPECT_TRUE(Eventually([&] { return Count("/log/") <= 150; }));
  EXPECT_GE(Count("/data/"), 500);
  const Entries entries = ScanAll(*store);
  ASSERT_EQ(entries.size(), 699u);
  for (const auto& [key, value] : entries) {
    const int64_t index = std::stoll(key.substr(3));
    EXPECT_TRUE(value.starts_with("199.")) << index;
  }
}

TEST_F(EtcdStoreTest, KeepsLargeValuesInPartsAndLeavesNone) {
  std::unique_ptr<Store> store = Open(address_);
  std::string large;
  Rng rng(3);
  while (large.size() < 3000000) large += static_cast<char>(rng.Below(256));
  ASSERT_THAT(Put("large", large, store.get()), IsOk());
  ASSERT_THAT(Put("larger", large + large, store.get()), IsOk());
  store.reset();
  store = Open(address_);
  EXPECT_THAT(ScanAll(*store),
              ElementsAre(Pair("large", large), Pair("larger", large + large)));
  ASSERT_THAT(Put("larger", large.substr(0, 1000000), store.get()), IsOk());
  ASSERT_THAT(Put("larger", "small", store.get()), IsOk());
  EXPECT_THAT(ScanAll(*store, "larger"), ElementsAre(Pair("larger", "small")));
  WriteBatch batch;
  batch.Delete("large");
  ASSERT_THAT(store->Write(batch, Durability::kSynced), IsOk());
  EXPECT_THAT(ScanAll(*store), ElementsAre(Pair("larger", "small")));
  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(Put("other", std::string(450000, 'x'), store.get()), IsOk());
    return Count("/parts/") == 0;
  }));
  store.reset();
  EXPECT_EQ(ScanAll(*Open(address_)).size(), 2u);
}

// Runs in a child process until it is killed.  Each batch writes its number
// everywhere, deletes what the batch before it made, and has one of three
// sizes.
TEST(EtcdStoreChild, DISABLED_WritesUntilKilled) {
  const std::optional<std::string> address = ChildProcess::Argument();
  if (!address.has_value()) GTEST_SKIP() << "runs in a child process only";
  const std::unique_ptr<Store> store = Open(*address);
  int64_t number = 0;
  for (const auto& [key, value] : ScanAll(*store, "made")) {
    number = std::stoll(value);
  }
  for (;;) {
    ++number;
    const size_t bytes[] = {10, 2600, 600};
    WriteBatch batch = LargeBatch(number, 2000, bytes[number % 3]);
    batch.Delete(StrCat("made", number - 1));
    batch.Put(StrCat("made", number), StrCat(number));
    ASSERT_THAT(store->Write(batch, Durability::kSynced), IsOk());
    ChildProcess::Report(StrCat(number));
  }
}

TEST_F(EtcdStoreTest, FindsAllOrNothingOfALargeBatchWhoseWriterIsKilled) {
  Rng rng(11);
  Mutex mutex;
  CondVar pause;
  int64_t stored = 0;
  for (int crash = 0; crash < 20; ++crash) {
    ChildProcess child("EtcdStoreChild.DISABLED_WritesUntilKilled", address_);
    std::optional<std::string> line = child.ReadLine();
    ASSERT_TRUE(line.has_value());
    {
      const MutexLock lock(mutex);
      pause.WaitFor(mutex, static_cast<int64_t>(rng.Below(200000)));
    }
    child.Kill();
    int64_t acknowledged = 0;
    for (; line.has_value(); line = child.ReadLine()) {
      acknowledged = std::stoll(*line);
    }
    Depose(*client_);
    const std::unique_ptr<Store> store = Open(address_);
    const Entries made = ScanAll(*store, "made");
    ASSERT_EQ(made.size(), 1u);
    const int64_t last = std::stoll(made[0].second);
    EXPECT_GE(last, acknowledged);
    EXPECT_LE(last, acknowledged + 1);
    EXPECT_GT(last, stored);
    stored = last;
    const Entries entries = ScanAll(*store, "key");
    ASSERT_EQ(entries.size(), 2000u);
    for (const auto& [key, value] : entries) {
      ASSERT_TRUE(value.starts_with(StrCat(last, "."))) << key << " " << last;
    }
  }
}

TEST_F(EtcdStoreTest, ForgetsWhatDoesNotCountInTheLog) {
  ASSERT_THAT(Put("a", "1", Open(address_).get()), IsOk());
  PutRaw("/log/0000000000000000000", "late");
  PutRaw("/log/0000000000000000002", "half of something");
  {
    const std::unique_ptr<Store> store = Open(address_);
    EXPECT_THAT(ScanAll(*store), ElementsAre(Pair("a", "1")));
    EXPECT_EQ(Count("/log/"), 1);
    ASSERT_THAT(Put("b", "2", store.get()), IsOk());
  }
  EXPECT_THAT(ScanAll(*Open(address_)),
              ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(EtcdStoreTest, RefusesALogThatIsDamaged) {
  ASSERT_THAT(Put("a", "1", Open(address_).get()), IsOk());
  ASSERT_THAT(Put("a", "2", Open(address_).get()), IsOk());
  PutRaw("/head", "7-3");
  EXPECT_THAT(TryOpen(address_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(address_),
                             HasSubstr("has no chunk 3 and ends with 3"))));
  PutRaw("/log/0000000000000000003", "no message");
  EXPECT_THAT(TryOpen(address_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("chunk 3 of the log is damaged")));
  PutRaw("/head", "not a number");
  EXPECT_THAT(TryOpen(address_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("head 'not a number' is damaged")));
}

TEST_F(EtcdStoreTest, ChangesNothingOnceItIsDeposed) {
  const std::unique_ptr<Store> first = TryOpen(address_, "first").value();
  ASSERT_THAT(Put("a", "1", first.get()), IsOk());
  Depose(*client_);
  {
    const std::unique_ptr<Store> second = TryOpen(address_, "second").value();
    ASSERT_THAT(Put("b", "2", second.get()), IsOk());
    EXPECT_THAT(Put("a", "3", first.get()),
                StatusIs(absl::StatusCode::kAborted,
                         StrCat("deposed: 'second' holds ", address_)));
    EXPECT_THAT(ScanAll(*second), ElementsAre(Pair("a", "1"), Pair("b", "2")));
  }
  EXPECT_THAT(Put("a", "4", first.get()),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("deposed")));
  EXPECT_THAT(ScanAll(*Open(address_)),
              ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(EtcdStoreTest, ChangesNothingByALargeBatchOnceItIsDeposed) {
  const std::unique_ptr<Store> first = Open(address_);
  Depose(*client_);
  const std::unique_ptr<Store> second = TryOpen(address_, "second").value();
  EXPECT_THAT(first->Write(LargeBatch(1, 2000, 2600), Durability::kSynced),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("deposed: 'second' holds")));
  EXPECT_THAT(ScanAll(*second), ElementsAre());
  EXPECT_EQ(Count("/log/"), 0);
}

TEST_F(EtcdStoreTest, SaysThatNobodyLeadsWhereTheLeaseHasEnded) {
  const std::unique_ptr<Store> store = Open(address_);
  Depose(*client_);
  EXPECT_THAT(
      Put("a", "1", store.get()),
      StatusIs(absl::StatusCode::kAborted,
               StrCat("deposed: the lease on ", address_, " has ended")));
}

TEST_F(EtcdStoreTest, NeedsALeaderToBeOpened) {
  EXPECT_THAT(OpenEtcdStore(*client_,
                            {.key = prefix_ + "/leader", .create_revision = 1}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("deposed")));
}

TEST_F(EtcdStoreTest, RefusesToGoOnBesideAnotherWriter) {
  const std::unique_ptr<Store> store = Open(address_);
  PutRaw("/head", "somebody else's");
  EXPECT_THAT(Put("a", "1", store.get()),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("by something other than its leader")));
}

TEST_F(EtcdStoreTest, DoesEachWriteOnceThoughEtcdIsKilledUnderIt) {
  EtcdServer server;
  const std::unique_ptr<Store> store = Open(server.Address("/x"));
  // Makes and deletes keys, so that a late write would show.
  std::atomic<bool> is_over = false;
  std::atomic<int64_t> last = 0;
  absl::Status status;
  std::thread writer([&] {
    while (!is_over.load() && status.ok()) {
      const int64_t number = ++last;
      WriteBatch batch = number % 50 == 0 ? LargeBatch(number, 300, 10)
                                          : LargeBatch(number, 3, 10);
      batch.Put(StrCat("made", number), "");
      batch.Delete(StrCat("made", number - 1));
      status = store->Write(batch, Durability::kSynced);
    }
  });
  Rng rng(5);
  Mutex mutex;
  CondVar pause;
  int kills = 0;
  for (; kills < 6; ++kills) {
    // It has written something since the last time.
    const int64_t before = last.load();
    if (!Eventually([&] { return last.load() > before + 1; })) break;
    {
      const MutexLock lock(mutex);
      pause.WaitFor(mutex, static_cast<int64_t>(rng.Below(200000)));
    }
    server.Kill();
    server.Start();
  }
  is_over = true;
  writer.join();
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(kills, 6);
  const int64_t number = last.load();
  EXPECT_THAT(ScanAll(*store, "made"),
              ElementsAre(Pair(StrCat("made", number), "")));
  EXPECT_EQ(ScanAll(*store, "key0")[0].second.substr(0, StrCat(number).size()),
            StrCat(number));
}

TEST_F(EtcdStoreTest, FailsWhileEtcdIsSilentAndIsWholeAfterwards) {
  EtcdServer server;
  const std::string address = server.Address("/x");
  {
    const auto client = MakeClient(address, 3000);
    const SystemClock clock;
    EtcdLeadership leadership(*client, clock, {.name = "a"});
    ASSERT_TRUE(leadership.Campaign().value());
    const auto store = OpenEtcdStore(*client, leadership.fence());
    ASSERT_THAT(store, IsOk());
    ASSERT_THAT(Put("a", "1", store->get()), IsOk());
    server.Signal(SIGSTOP);
    EXPECT_THAT(Put("a", "2", store->get()),
                StatusIs(absl::StatusCode::kDeadlineExceeded,
                         AllOf(HasSubstr(server.endpoint()),
                               HasSubstr("too slow, is cut off"))));
    server.Signal(SIGCONT);
    EXPECT_THAT(Put("a", "3", store->get()),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
  const auto store = TryOpen(address, "b");
  ASSERT_THAT(store, IsOk());
  const Entries entries = ScanAll(**store);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_THAT(entries[0].second, testing::AnyOf("1", "2"));
}

TEST_F(EtcdStoreTest, SaysThatEtcdIsFull) {
  EtcdServer server({"--quota-backend-bytes=1000000"});
  const std::unique_ptr<Store> store = Open(server.Address("/x"));
  absl::Status status;
  for (int i = 0; i < 2000 && status.ok(); ++i) {
    status = Put("a", Noise(100000), store.get());
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("etcd is full")));
  EXPECT_THAT(Put("a", "2", store.get()),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(ScanAll(*store).size(), 1u);
}

TEST_F(EtcdStoreTest, SaysThatItsScanWasCompactedUnderIt) {
  const std::unique_ptr<Store> store = Open(address_);
  FillPlaces(store.get());
  int visited = 0;
  const absl::Status status =
      store->Scan("", [&](std::string_view, std::string_view) {
        if (visited++ == 0) {
          PutRaw("/other", "1");
          etcdserverpb::RangeRequest request;
          request.set_key(prefix_);
          const int64_t now = client_->Range(request)->header().revision();
          Compact(*client_, now);
        }
        return absl::OkStatus();
      });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr(prefix_), HasSubstr("compacted"),
                                     HasSubstr("try again"))));
  EXPECT_GT(visited, 0);
  EXPECT_EQ(ScanAll(*store, "key").size(), 25000u);
}

TEST_F(EtcdStoreTest, ScansOneRevision) {
  const std::unique_ptr<Store> store = Open(address_);
  FillPlaces(store.get());
  int visited = 0;
  ASSERT_THAT(store->Scan("key",
                          [&](std::string_view key, std::string_view) {
                            if (++visited > 100) return absl::OkStatus();
                            PutRaw(StrCat("/data/", key, "-new"), "new");
                            return absl::OkStatus();
                          }),
              IsOk());
  EXPECT_EQ(visited, 25000);
}

TEST_F(EtcdStoreTest, AsksForCompaction) {
  EtcdServer server;
  const std::unique_ptr<Store> store = Open(server.Address("/x"));
  // More than twice 64 MiB.
  const std::string noise = Noise(450000);
  for (int i = 0; i < 320; ++i) {
    ASSERT_THAT(Put("a", noise, store.get()), IsOk());
  }
  const auto client = MakeClient(server.Address("/x"));
  etcdserverpb::RangeRequest request;
  request.set_key("/x/data/a");
  request.set_revision(10);
  EXPECT_THAT(client->Range(request), StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace sluice
