// The records of a store on etcd in memory, and how they are read from there.
//
// etcd_store.h says where a store keeps what.
//
// Threads: as the standard containers.

#ifndef SLUICE_ETCD_ETCD_RECORDS_H_
#define SLUICE_ETCD_ETCD_RECORDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "etcd/etcd_client.h"
#include "etcd/rpc.pb.h"
#include "persist/store.h"

namespace sluice {

// The end of the range of keys that begin with `prefix`: the first key after
// all of them.
std::string EndOf(std::string prefix);

// `number` in nineteen digits, so that keys sort by number.
std::string ChunkNumber(int64_t number);

// The number after the last `mark` in `text`, or the number that all of `text`
// is if it has no `mark`; -1 if that is no number.
int64_t NumberAfter(char mark, std::string_view text);

// The key of a part of the value of `key`, in the store whose keys begin with
// `top`.
std::string PartKey(std::string_view top, std::string_view key,
                    uint32_t number);

using EntryVisitor = absl::FunctionRef<absl::Status(const std::string& key,
                                                    const std::string& value)>;

// Reads the keys of `request` page by page, at its revision; if that is 0, at
// the current one, which it then is set to.  Calls `visit` for each, ascending.
// Errors: those of the client and of `visit`.
absl::Status ReadPages(EtcdClient& client, etcdserverpb::RangeRequest* request,
                       EntryVisitor visit);

// The same, and decompresses the values.
// Errors: also kDataLoss for one that is damaged.
absl::Status ReadValues(EtcdClient& client, etcdserverpb::RangeRequest* request,
                        EntryVisitor visit);

// The changes in a chunk of the log.
// Errors: kDataLoss.
absl::StatusOr<etcdserverpb::TxnRequest> ParseChunk(int64_t number,
                                                    std::string_view stored);

// Calls `visit` for each entry whose key begins with `first`, ascending, with
// its whole key.  The values may be empty if `keys_only`.
using EntryReader = absl::FunctionRef<absl::Status(
    const std::string& first, bool keys_only, EntryVisitor visit)>;

// By the keys of values that are kept in parts: how many parts each has.
using PartCounts = absl::btree_map<std::string, uint32_t, std::less<>>;

// Errors: those of `read`; kDataLoss for a key below parts/ that is none.
absl::StatusOr<PartCounts> CountParts(std::string_view top, EntryReader read);

// As Store::Scan(), for the store whose keys begin with `top`.  `read` always
// reads the same revision.
// Errors: those of `read` and of `visit`; kDataLoss for a value that lacks a
// part.
absl::Status ScanEntries(std::string_view top, std::string_view prefix,
                         EntryReader read, Store::Visitor visit);

// What a store held when the head passed a chunk.
struct EtcdRecords {
  // The head at that time; no later head has this value.  Empty: none.
  std::string head = {};
  // The number of that chunk; 0: none.
  int64_t number = 0;
  // All that is in place below data/ and parts/, with what the log says up to
  // that chunk.  By whole keys.
  absl::btree_map<std::string, std::string, std::less<>> values = {};
  // The log from the tail on, by number.  Later chunks than that one may never
  // count.
  absl::btree_map<int64_t, std::string> log = {};

  // Applies the next chunk.
  // Errors: kDataLoss if the log does not have it, or if it is damaged; then
  // nothing changes.
  absl::Status Advance();

  // As Store::Scan(), for the store whose keys begin with `top`.
  absl::Status Scan(std::string_view top, std::string_view prefix,
                    Store::Visitor visit) const;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_RECORDS_H_
