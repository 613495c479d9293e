#include "persist/rocksdb_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "unit/persist/child_process.h"
#include "unit/persist/store_contract.h"
#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::unique_ptr<Store> Open(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksDbStore(directory);
  EXPECT_THAT(store, IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(RocksDb, StoreContract, testing::Values(&Open));

void Put(const std::string& key, const std::string& value, Store* store,
         Durability durability = Durability::kBuffered) {
  WriteBatch batch;
  batch.Put(key, value);
  ASSERT_THAT(store->Write(batch, durability), IsOk());
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// The files in `directory` that end in `extension`.
std::vector<std::filesystem::path> FilesOf(const std::string& directory,
                                           const std::string& extension) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  return paths;
}

TEST(RocksDbStore, HoldsWhatItHeldWhenItIsOpenedAgain) {
  const TemporaryDirectory directory;
  {
    const std::unique_ptr<Store> store = Open(directory.path());
    Put("buffered", "1", store.get(), Durability::kBuffered);
    Put("synced", "2", store.get(), Durability::kSynced);
  }
  EXPECT_THAT(ScanAll(*Open(directory.path())),
              ElementsAre(Pair("buffered", "1"), Pair("synced", "2")));
}

TEST(RocksDbStore, IsDescribedByItsDirectory) {
  const TemporaryDirectory directory;
  EXPECT_EQ(Open(directory.path())->description(), directory.path());
}

TEST(RocksDbStore, CreatesItsDirectoryAndTheParents) {
  const TemporaryDirectory directory;
  for (const char* name : {"a/b/c", "d/", "e/../f"}) {
    Put("key", "value", Open(directory / name).get());
    EXPECT_TRUE(std::filesystem::exists(directory / name + "/CURRENT")) << name;
  }
}

TEST(RocksDbStore, RefusesAnEmptyName) {
  EXPECT_THAT(OpenRocksDbStore(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                             "data directory '': has no name"));
}

TEST(RocksDbStore, RefusesAFile) {
  const TemporaryDirectory directory;
  WriteFile(directory / "file", "content");
  EXPECT_THAT(OpenRocksDbStore(directory / "file"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       StrCat("data directory '", directory / "file",
                              "': is not a directory")));
  EXPECT_THAT(OpenRocksDbStore(directory / "file/below"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(directory / "file/below"),
                             HasSubstr("is not a directory"))));
  EXPECT_EQ(ReadFile(directory / "file"), "content");
}

// Root may do everything; for these tests it becomes somebody else.
class Unprivileged {
 public:
  Unprivileged() {
    if (geteuid() == 0) CHECK_EQ(seteuid(65534), 0);
  }
  ~Unprivileged() {
    if (getuid() == 0) CHECK_EQ(seteuid(0), 0);
  }
};

TEST(RocksDbStore, RefusesADirectoryThatMayNotBeRead) {
  const TemporaryDirectory directory;
  Open(directory / "mine").reset();
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(directory / "mine",
                               std::filesystem::perms(0000));
  const Unprivileged unprivileged;
  EXPECT_THAT(OpenRocksDbStore(directory / "mine"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr(directory / "mine"),
                             HasSubstr("Permission denied"))));
}

TEST(RocksDbStore, RefusesADirectoryThatItMayNotCreate) {
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0555));
  const Unprivileged unprivileged;
  EXPECT_THAT(OpenRocksDbStore(directory / "a/b"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr(directory / "a/b"),
                             HasSubstr("cannot create"))));
}

TEST(RocksDbStore, RefusesASecondOpenerInTheSameProcess) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Store> store = Open(directory.path());
  EXPECT_THAT(OpenRocksDbStore(directory.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       StrCat("data directory '", directory.path(),
                              "': is in use by another process")));
}

// Runs in a child process until it is killed: writes one number under two keys
// at once, the next one each time, and reports what was acknowledged.
TEST(RocksDbStoreChild, DISABLED_WritesUntilKilled) {
  const std::optional<std::string> directory = ChildProcess::Argument();
  if (!directory.has_value()) GTEST_SKIP() << "runs in a child process only";
  const std::unique_ptr<Store> store = Open(*directory);
  for (int64_t number = 1;; ++number) {
    WriteBatch batch;
    batch.Put("a", StrCat(number));
    // Larger than a block of the log, so that a batch is several records.
    batch.Put("b", std::string(static_cast<size_t>(number % 3) * 40000, 'x'));
    batch.Put("c", StrCat(number));
    ASSERT_THAT(store->Write(batch, Durability::kBuffered), IsOk());
    ChildProcess::Report(StrCat(number));
  }
}

TEST(RocksDbStore, RefusesASecondOpenerInAnotherProcess) {
  const TemporaryDirectory directory;
  ChildProcess child("RocksDbStoreChild.DISABLED_WritesUntilKilled",
                     directory.path());
  ASSERT_EQ(child.ReadLine(), "1");
  EXPECT_THAT(OpenRocksDbStore(directory.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is in use by another process")));
  child.Kill();
  EXPECT_THAT(OpenRocksDbStore(directory.path()), IsOk());
}

TEST(RocksDbStore, LosesNothingAcknowledgedWhenItsProcessIsKilled) {
  const TemporaryDirectory directory;
  for (int crash = 1; crash <= 5; ++crash) {
    ChildProcess child("RocksDbStoreChild.DISABLED_WritesUntilKilled",
                       directory.path());
    std::optional<std::string> line;
    for (int i = 0; i < 7 * crash; ++i) {
      line = child.ReadLine();
      ASSERT_TRUE(line.has_value());
    }
    child.Kill();
    int64_t acknowledged = 0;
    for (; line.has_value(); line = child.ReadLine()) {
      acknowledged = std::stoll(*line);
    }
    const Entries entries = ScanAll(*Open(directory.path()));
    ASSERT_EQ(entries.size(), 3u);
    const int64_t stored = std::stoll(entries[0].second);
    EXPECT_GE(stored, acknowledged);
    EXPECT_LE(stored, acknowledged + 1);
    EXPECT_EQ(entries[1].second.size(), static_cast<size_t>(stored % 3) * 40000)
        << "half a batch";
    EXPECT_EQ(entries[2].second, entries[0].second) << "half a batch";
  }
}

TEST(RocksDbStore, KeepsWholeBatchesOfALogThatWasTornAnywhere) {
  const TemporaryDirectory directory;
  constexpr int kBatches = 8;
  {
    const std::unique_ptr<Store> store = Open(directory / "whole");
    for (int i = 1; i <= kBatches; ++i) {
      WriteBatch batch;
      batch.Put("a", StrCat(i));
      batch.Put("b", StrCat(i));
      ASSERT_THAT(store->Write(batch, Durability::kBuffered), IsOk());
    }
  }
  const auto logs = FilesOf(directory / "whole", ".log");
  ASSERT_EQ(logs.size(), 1u);
  const std::string log = ReadFile(logs[0]);
  int last = 0;
  for (size_t size = 0; size <= log.size(); ++size) {
    std::filesystem::copy(directory / "whole", directory / "torn");
    std::filesystem::resize_file(
        directory / "torn/" + logs[0].filename().string(), size);
    const Entries entries = ScanAll(*Open(directory / "torn"));
    if (entries.empty()) {
      EXPECT_EQ(last, 0);
    } else {
      const std::string& number = entries[0].second;
      EXPECT_THAT(entries, ElementsAre(Pair("a", number), Pair("b", number)));
      EXPECT_THAT(std::stoi(number), AnyOf(last, last + 1)) << size;
      last = std::stoi(number);
    }
    std::filesystem::remove_all(directory / "torn");
  }
  EXPECT_EQ(last, kBatches);
}

TEST(RocksDbStore, RefusesALogThatIsDamagedBeforeItsEnd) {
  const TemporaryDirectory directory;
  {
    const std::unique_ptr<Store> store = Open(directory.path());
    Put("first", "value one", store.get());
    Put("second", "value two", store.get());
  }
  const auto logs = FilesOf(directory.path(), ".log");
  ASSERT_EQ(logs.size(), 1u);
  std::string log = ReadFile(logs[0]);
  log[log.find("value one")] ^= 1;
  WriteFile(logs[0], log);
  EXPECT_THAT(
      OpenRocksDbStore(directory.path()),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr(directory.path())));
}

TEST(RocksDbStore, RefusesAManifestThatIsDamaged) {
  const TemporaryDirectory directory;
  Put("key", "value", Open(directory.path()).get());
  WriteFile(directory / "CURRENT", "nonsense");
  EXPECT_THAT(
      OpenRocksDbStore(directory.path()),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr(directory.path())));
}

TEST(RocksDbStore, ReportsATableThatIsDamaged) {
  const TemporaryDirectory directory;
  Put("key", std::string(1000, 'x'), Open(directory.path()).get());
  Open(directory.path()).reset();  // Opening moves the log into a table.
  const auto tables = FilesOf(directory.path(), ".sst");
  ASSERT_EQ(tables.size(), 1u);
  const std::string table = ReadFile(tables[0]);
  int64_t noticed = 0;
  for (size_t position = 0; position < table.size(); position += 29) {
    std::string damaged = table;
    damaged[position] ^= 4;
    WriteFile(tables[0], damaged);
    absl::StatusOr<std::unique_ptr<Store>> store =
        OpenRocksDbStore(directory.path());
    int64_t entries = 0;
    const absl::Status status =
        !store.ok()
            ? store.status()
            : (*store)->Scan("", [&](std::string_view, std::string_view value) {
                entries += value == std::string(1000, 'x') ? 1 : 0;
                return absl::OkStatus();
              });
    if (status.ok()) {
      EXPECT_EQ(entries, 1) << position;  // Nobody needs that byte.
      continue;
    }
    ++noticed;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr(directory.path())))
        << position;
  }
  EXPECT_GT(noticed, 5);
}

// Files of this process may have so many bytes; the rest of its life is as
// before.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    former_handler_ = signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &former_), 0);
    rlimit limit = former_;
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &former_), 0);
    signal(SIGXFSZ, former_handler_);
  }

 private:
  rlimit former_;
  void (*former_handler_)(int);
};

TEST(RocksDbStore, HoldsWhatItHeldBeforeAWriteThatFailed) {
  const TemporaryDirectory directory;
  std::unique_ptr<Store> store = Open(directory.path());
  Put("before", "1", store.get());
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("large", std::string(2 << 20, 'x'));
  {
    const FileSizeLimit limit(1 << 20);
    EXPECT_THAT(store->Write(batch, Durability::kSynced),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr(directory.path()),
                               HasSubstr("File too large"))));
  }
  EXPECT_THAT(
      store->Write(WriteBatch(), Durability::kBuffered),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("File too large")));
  EXPECT_THAT(ScanAll(*store), ElementsAre(Pair("before", "1")));

  store.reset();
  store = Open(directory.path());
  EXPECT_THAT(ScanAll(*store), ElementsAre(Pair("before", "1")));
  Put("after", "2", store.get());
  EXPECT_THAT(ScanAll(*store),
              ElementsAre(Pair("after", "2"), Pair("before", "1")));
}

TEST(RocksDbStore, KeepsFewOfItsOwnInfoLogs) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 8; ++i) Open(directory.path()).reset();
  int64_t info_logs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory.path())) {
    info_logs += entry.path().filename().string().starts_with("LOG") ? 1 : 0;
  }
  EXPECT_LE(info_logs, 4);
}

}  // namespace
}  // namespace sluice
