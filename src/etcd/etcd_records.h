// The records of a store on etcd in memory, and how they are read from there.
//
// Where a store keeps what is in etcd_store.h.
//
// Threads: as the standard containers.

#ifndef SLUICE_ETCD_ETCD_RECORDS_H_
#define SLUICE_ETCD_ETCD_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "etcd/etcd_client.h"
#include "etcd/rpc.pb.h"
#include "persist/store.h"

namespace sluice {

// The first key after all that begin with `prefix`, which ends with a slash or
// is followed by bytes that do not matter.
std::string EndOf(std::string prefix);

// In nineteen digits, so that they sort by number.
std::string ChunkNumber(int64_t number);

// The number that `text` ends with, after `mark`, or that it is where there is
// no `mark`; -1 where there is none.
int64_t NumberAfter(char mark, std::string_view text);

// The number of a part, at the end of its key.
inline constexpr size_t kPartNumberBytes = 4;

// Reads the keys of `request`, in pages, at its revision; if that is 0, at that
// of now, to which it is set.  Calls `visit` for each, ascending.
// Errors: those of the client and of `visit`.
absl::Status ReadPages(EtcdClient& client, etcdserverpb::RangeRequest* request,
                       absl::FunctionRef<absl::Status(const std::string& key,
                                                      const std::string& value)>
                           visit);

// What a store held when the head passed a chunk.
struct EtcdRecords {
  // The head then, which is never the same again; empty: there was none.
  std::string head = {};
  // The number of that chunk; 0: none.
  int64_t number = 0;
  // All that is in its place below data/ and parts/, and what the log says up
  // to that chunk.  By the whole keys.
  absl::btree_map<std::string, std::string, std::less<>> values = {};
  // The log from the tail on, by number.  What is after that chunk may never
  // count.
  absl::btree_map<int64_t, std::string> log = {};

  // Does what the next chunk says.
  // Errors: kDataLoss if the log does not have it, or it is damaged; nothing is
  // changed then.
  absl::Status Advance();

  // As Store::Scan(), of the store whose keys begin with `top`.
  absl::Status Scan(std::string_view top, std::string_view prefix,
                    Store::Visitor visit) const;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_RECORDS_H_
