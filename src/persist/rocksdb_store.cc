#include "persist/rocksdb_store.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

std::string_view View(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

rocksdb::Slice Slice(std::string_view text) {
  return {text.data(), text.size()};
}

absl::StatusCode CodeOf(const rocksdb::Status& status) {
  if (status.IsCorruption()) return absl::StatusCode::kDataLoss;
  if (status.IsNoSpace()) return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kUnavailable;
}

absl::Status ToStatus(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(CodeOf(status), status.ToString());
}

// RocksDB has no code for a lock that is held.  The texts come from its
// PosixFileSystem::LockFile, for another process and for this one.
bool IsLocked(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() &&
         (text.find("While lock file") != std::string::npos ||
          text.find("lock hold by current process") != std::string::npos);
}

// A new directory survives a power failure only if its parent is synced
// afterwards.  RocksDB takes care of what is inside.
absl::Status SyncDirectory(const std::filesystem::path& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open");
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  if (result != 0) return absl::ErrnoToStatus(error, "cannot sync");
  return absl::OkStatus();
}

absl::Status MakeDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::file_status found =
      std::filesystem::status(directory, error);
  if (std::filesystem::is_directory(found)) return absl::OkStatus();
  if (found.type() != std::filesystem::file_type::not_found) {
    if (error) return absl::ErrnoToStatus(error.value(), "cannot look it up");
    return absl::FailedPreconditionError("is not a directory");
  }
  std::filesystem::path parent = directory.parent_path();
  if (parent.empty()) parent = ".";
  RETURN_IF_ERROR(Annotate(MakeDirectory(parent),
                           StrCat("its parent '", parent.string(), "'")));
  // Others must not read the names of tasks and jobs.
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, "cannot create it");
  }
  return SyncDirectory(parent);
}

rocksdb::Options StoreOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  // The default would stop at any damage in the log and silently lose what was
  // acknowledged after it.
  options.wal_recovery_mode =
      rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // A cluster of 100,000 tasks is some 30 MB of records.
  options.write_buffer_size = 16 << 20;
  // Nothing is read between recovery and the next start, so there is no point
  // in keeping the buffer sorted at every write: it is sorted when it is
  // written out.  It does not support concurrent writers, but there is only
  // one.
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = 64 << 20;
  options.max_manifest_file_size = 16 << 20;
  options.max_open_files = 256;
  options.max_background_jobs = 2;
  // The info log ("LOG") must not fill the disk of a daemon that runs for
  // years.
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

absl::StatusOr<std::unique_ptr<rocksdb::DB>> Open(
    const std::string& directory) {
  if (directory.empty()) return absl::InvalidArgumentError("has no name");
  RETURN_IF_ERROR(MakeDirectory(directory));
  if (faccessat(AT_FDCWD, directory.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) !=
      0) {
    return absl::ErrnoToStatus(errno, "cannot be read and written");
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(StoreOptions(), directory, &db);
  if (IsLocked(status)) {
    return absl::FailedPreconditionError("is in use by another process");
  }
  RETURN_IF_ERROR(ToStatus(status));
  return std::unique_ptr<rocksdb::DB>(db);
}

class RocksDbStore final : public Store {
 public:
  RocksDbStore(std::string directory, std::unique_ptr<rocksdb::DB> db)
      : directory_(std::move(directory)), db_(std::move(db)) {}

  // A store that was closed properly survives a power failure as it is.
  ~RocksDbStore() override {
    if (!failure_.ok()) return;
    const rocksdb::Status status = db_->FlushWAL(/*sync=*/true);
    LOG_IF(WARNING, !status.ok())
        << "closing " << Name() << ": " << status.ToString();
  }

  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    // It is unknown how the log ends: only opening it again tells.
    if (!failure_.ok()) return failure_;
    // One allocation, with some bytes for the header of each operation.
    size_t bytes = 32;
    for (const auto& [key, value] : batch.operations()) {
      bytes += key.size() + (value.has_value() ? value->size() : 0) + 12;
    }
    rocksdb::WriteBatch writes(bytes);
    for (const WriteBatch::Operation& operation : batch.operations()) {
      const rocksdb::Status status =
          operation.value.has_value()
              ? writes.Put(operation.key, *operation.value)
              : writes.Delete(operation.key);
      if (!status.ok()) return Error("writing", status);
    }
    rocksdb::WriteOptions options;
    options.sync = durability == Durability::kSynced;
    failure_ = Error("writing", db_->Write(options, &writes));
    return failure_;
  }

  absl::Status Scan(std::string_view prefix, Visitor visit) const override {
    rocksdb::ReadOptions options;
    options.fill_cache = false;  // Everything is read once.
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
    for (it->Seek(Slice(prefix));
         it->Valid() && View(it->key()).starts_with(prefix); it->Next()) {
      RETURN_IF_ERROR(visit(View(it->key()), View(it->value())));
    }
    return Error("reading", it->status());
  }

  std::string description() const override { return directory_; }

 private:
  std::string Name() const {
    return StrCat("data directory '", directory_, "'");
  }

  // `status` with the directory and what was done to it; OK stays OK.
  absl::Status Error(std::string_view action,
                     const rocksdb::Status& status) const {
    return Annotate(ToStatus(status), StrCat(action, " ", Name()));
  }

  const std::string directory_;
  const std::unique_ptr<rocksdb::DB> db_;
  absl::Status failure_;  // Of the first write that failed.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenRocksDbStore(
    const std::string& directory) {
  absl::StatusOr<std::unique_ptr<rocksdb::DB>> db = Open(directory);
  if (!db.ok()) {
    return Annotate(db.status(), StrCat("data directory '", directory, "'"));
  }
  return std::make_unique<RocksDbStore>(directory, *std::move(db));
}

}  // namespace sluice
