// The store on etcd: for a daemon whose state outlives its machine.
//
// The store has one writer, the leader (etcd_leadership.h): every write is a
// transaction that compares the leader's key.  A deposed leader changes nothing
// any more, whatever it believes and whenever its messages arrive.
//
// A batch is appended to a log, in chunks of less than a megabyte.  It counts
// once the head has passed its last chunk, and one transaction writes that
// chunk and the head.  So a batch of any size is stored as a whole or not at
// all.  One key for each batch is what etcd does best.  Once the log is long, a
// thread drains it: it puts into place whatever has not been overwritten or
// deleted since.  Then the tail passes what was put, and that part of the log
// is deleted.  Opening the store reads the log from tail to head into memory,
// and forgets what does not count; a scan shows both.  Whoever watches the log
// and the head sees every batch, whole and in order.
//
// A transaction whose answer is lost is sent again until the timeout of the
// client.  etcd may have executed it already, or may execute it late.  So a
// transaction that moves the head or the tail compares the old value, and one
// that puts something into place compares the tail.  A chunk that is appended
// late does not count, and is swept when the store is opened.
//
// Both durabilities are those of etcd: its members sync a write before they
// answer.  Values above half a mebibyte are kept in parts.  Old history is
// compacted, for the whole etcd.
//
// An etcd that is set back to an old backup while the process runs is refused
// (etcd_client.h).  If both restart, nobody knows that there was more: the
// daemon goes on from the backup.
//
// Keys, below PREFIX/:
//   format       "2"; "1" if nothing is compressed yet
//   leader       etcd_leadership.h
//   followers/   etcd_roster.h
//   head         TERM-NUMBER of the last chunk; TERM is the fence's revision
//   tail         the number of the last chunk that is in place
//   log/NUMBER   a chunk: the puts and deletes, as a message TxnRequest
//   data/KEY     a value, or nothing if it has parts
//   parts/KEY followed by the number of the part in four bytes
// The values of the last three are compressed (etcd_compression.h).
//
// Threads: as every store, one call at a time.  While it drains the log, it has
// a thread of its own.

#ifndef SLUICE_ETCD_ETCD_STORE_H_
#define SLUICE_ETCD_ETCD_STORE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_leadership.h"
#include "etcd/etcd_records.h"
#include "persist/store.h"

namespace sluice {

// Opens the store at the address of `client`, which must outlive it, for a
// leader.  Its description is the address.
// Errors name the address.  Besides those of the client: kAborted if the fence
// does not hold, kFailedPrecondition if the prefix holds another format or
// something else, kDataLoss if the data are damaged.
// Writes fail with kAborted, "deposed", once another daemon leads.
//
// `known` is what this store held a short time ago (etcd_follower.h).  With it
// only what is newer is read, and scans do not ask etcd until the first write.
// `head`, unless null, receives the head from before this call: two stores with
// the same head hold the same.
absl::StatusOr<std::unique_ptr<Store>> OpenEtcdStore(
    EtcdClient& client, const Fence& fence,
    std::optional<EtcdRecords> known = std::nullopt,
    std::string* head = nullptr);

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_STORE_H_
