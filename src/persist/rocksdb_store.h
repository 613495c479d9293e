// The embedded store: RocksDB in a directory of its own.
//
// Its write-ahead log makes a batch atomic, whenever a crash occurs.  A tail of
// the log that the crash has torn is dropped.  Damage anywhere else is an
// error, since what follows it had been acknowledged.

#ifndef SLUICE_PERSIST_ROCKSDB_STORE_H_
#define SLUICE_PERSIST_ROCKSDB_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "persist/store.h"

namespace sluice {

// Opens the store in `directory`.  Creates the directory and its parents if
// they are missing.  Only one process at a time may have it open.  Errors name
// the directory: kInvalidArgument if the name is empty, kFailedPrecondition if
// it is not a directory or is open already, kPermissionDenied if it may not be
// read and written, kDataLoss if what is in it is damaged, kResourceExhausted
// if the disk is full, kUnavailable for other failures of the file system.
absl::StatusOr<std::unique_ptr<Store>> OpenRocksDbStore(
    const std::string& directory);

}  // namespace sluice

#endif  // SLUICE_PERSIST_ROCKSDB_STORE_H_
