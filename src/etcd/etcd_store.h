// The store on etcd: for a daemon that outlives its machine.
//
// It has one writer, who is the leader (etcd_leadership.h): every write is a
// transaction that compares the leader's key.  One who was deposed changes
// nothing any more, whatever it believes, and whenever what it sent arrives.
//
// A batch is appended to a log, in chunks below a megabyte, and counts once the
// head has passed its last one, which the transaction with that chunk does: so
// it is stored as a whole or not at all, whatever its size.  One key for each
// batch is what etcd is best at.  Once there is much in the log a thread puts
// what is left of it in its places, where most has been overwritten or deleted
// meanwhile; then the tail passes what it has put, and that part of the log is
// deleted.  Opening the store reads the log from tail to head into memory, and
// forgets what does not count; a scan shows both.  Who watches the log and the
// head sees every batch, whole and in order.
//
// A transaction whose answer is lost is sent again until the timeout of the
// client.  It may have been executed already, or be executed late: so those
// that advance the head or the tail compare what it was before, and those that
// put something in its place compare the tail.  What is appended late does not
// count, and is swept when the store is opened.
//
// Both durabilities are etcd's: its members have synced a write before they say
// so.  Values above half a mebibyte are kept in parts.  History that is
// old is compacted, for the whole etcd.
//
// An etcd that is set back to an old backup while the process runs is refused
// (etcd_client.h).  After a restart of both nobody knows that there was more:
// the daemon goes on from the backup.
//
// Keys, below PREFIX/:
//   format       "1"
//   leader       etcd_leadership.h
//   followers/   etcd_roster.h
//   head         TERM-NUMBER of the last chunk; TERM is the fence's revision
//   tail         the number of the last chunk that is in its places
//   log/NUMBER   a chunk: the puts and deletes, as a message TxnRequest
//   data/KEY     a value, or nothing where it has parts
//   parts/KEY followed by the number of the part in four bytes
//
// Threads: as every store, one call at a time.  It has one of its own at times.

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

// Opens the store at the address of `client`, which must outlive it, for one
// who leads.  Its description is the address.
// Errors name the address.  Besides those of the client: kAborted if the fence
// does not hold, kFailedPrecondition if what is there has another format or is
// something else, kDataLoss if it is damaged.
// Writes fail with kAborted, "deposed", once somebody else leads.
//
// `known` is what this store held not long ago (etcd_follower.h).  Then only
// what is newer is read, and until the first write scans do not ask etcd.
// `head`, unless null, becomes the head of before: two stores with the same one
// hold the same.
absl::StatusOr<std::unique_ptr<Store>> OpenEtcdStore(
    EtcdClient& client, const Fence& fence,
    std::optional<EtcdRecords> known = std::nullopt,
    std::string* head = nullptr);

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_STORE_H_
