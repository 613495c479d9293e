// The embedded store: RocksDB in a directory of its own.
//
// Its write-ahead log makes a batch atomic at any point of a crash.  A tail of
// the log that was torn by the crash is dropped; damage anywhere else is an
// error, for what follows it had been acknowledged.

#ifndef SLUICE_PERSIST_ROCKSDB_STORE_H_
#define SLUICE_PERSIST_ROCKSDB_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "persist/store.h"

namespace sluice {

// Opens the store in `directory`, which is created, parents included, where it
// is missing.  One process at a time may have it open.
// Errors name the directory: kInvalidArgument if the name is empty,
// kFailedPrecondition if it is no directory or is open already,
// kPermissionDenied if it may not be read and written, kDataLoss if what is in
// it is damaged, kResourceExhausted if the disk is full, kUnavailable for
// other failures of the file system.
absl::StatusOr<std::unique_ptr<Store>> OpenRocksDbStore(
    const std::string& directory);

}  // namespace sluice

#endif  // SLUICE_PERSIST_ROCKSDB_STORE_H_
