// Where the daemon keeps what it must not forget: byte strings by key, ordered,
// changed by atomic batches.
//
// The store knows nothing about tasks and machines (persist/records.h does).
// Its interface does not say where the bytes are: in memory, in a directory, or
// in etcd (etcd/etcd_store.h).
//
// Threads: one call at a time, usually by the core thread.

#ifndef SLUICE_PERSIST_STORE_H_
#define SLUICE_PERSIST_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace sluice {

// Puts and deletes that take effect in order, all of them or none.
class WriteBatch {
 public:
  struct Operation {
    std::string key;
    std::optional<std::string> value;  // Nothing: delete.
  };

  // Sets the value of the key, whatever it was.
  void Put(std::string key, std::string value) {
    operations_.push_back({std::move(key), std::move(value)});
  }
  // Deletes the key.  It need not exist.
  void Delete(std::string key) {
    operations_.push_back({std::move(key), std::nullopt});
  }

  const std::vector<Operation>& operations() const { return operations_; }
  bool empty() const { return operations_.empty(); }

 private:
  std::vector<Operation> operations_;
};

enum class Durability {
  kBuffered,  // Survives the death of the process.
  kSynced,    // Survives the loss of power, as do all batches before it.
};

class Store {
 public:
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key,
                                                 std::string_view value)>;

  virtual ~Store() = default;

  // Stores the whole batch, or nothing of it.
  // Errors: the store could not.  Then it is unknown which of the two holds,
  // and every later write fails as well until the store is opened again.
  virtual absl::Status Write(const WriteBatch& batch,
                             Durability durability) = 0;

  // Calls `visit` for every key that starts with `prefix`, ascending in the
  // order of unsigned bytes.  `visit` must not call the store.  Its arguments
  // are valid until it returns.
  // Errors: the first one of `visit`, which ends the scan, and kDataLoss,
  // kUnavailable or kDeadlineExceeded if the store cannot be read.
  virtual absl::Status Scan(std::string_view prefix, Visitor visit) const = 0;

  // OK while nobody else may write to it.
  // Errors: kAborted once another may.  What was read from it may then be
  // stale, and must not be told to anybody any more.
  virtual absl::Status CheckHeld() const { return absl::OkStatus(); }

  // For people: "memory", the directory, or the address.
  virtual std::string description() const = 0;
};

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORE_H_
