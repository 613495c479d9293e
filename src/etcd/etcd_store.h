// The store on etcd: for a daemon that outlives its machine.
//
// It has one writer, who is the leader (etcd_leadership.h): every write is a
// transaction that compares the leader's key.  One who was deposed changes
// nothing any more, whatever it believes, and whenever what it sent arrives.
//
// A batch that etcd takes in one transaction, which is up to 3,600 keys and a
// million bytes, is one.  Of a larger one all is staged first, then a commit
// record makes it true, then it is put in its places, then what was staged is
// deleted.  Opening the store does what is left of that, or forgets what has no
// commit record.
//
// A transaction whose answer is lost is sent again until the timeout of the
// client.  It may have been executed already, or be executed late: so each
// compares and advances a sequence, or compares the commit record that it
// belongs to, and takes effect once.
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
//   format     "1"
//   leader     etcd_leadership.h
//   sequence   TERM-NUMBER of the last batch; TERM is the fence's revision
//   commit     TERM-NUMBER of a batch that is staged, and how many chunks it
//   has staged/TERM-NUMBER/CHUNK data/KEY   a value, or nothing where it has
//   parts parts/KEY followed by the number of the part in four bytes
//
// Threads: as every store, one call at a time.

#ifndef SLUICE_ETCD_ETCD_STORE_H_
#define SLUICE_ETCD_ETCD_STORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_leadership.h"
#include "persist/store.h"

namespace sluice {

// Opens the store at the address of `client`, which must outlive it, for one
// who leads.  Its description is the address.
// Errors name the address.  Besides those of the client: kAborted if the fence
// does not hold, kFailedPrecondition if what is there has another format or is
// something else, kDataLoss if it is damaged.
// Writes fail with kAborted, "deposed", once somebody else leads.
absl::StatusOr<std::unique_ptr<Store>> OpenEtcdStore(EtcdClient& client,
                                                     const Fence& fence);

struct LoneEtcdStoreOptions {
  EtcdClientOptions client;
  EtcdLeadershipOptions leadership;
  // How long to wait for another holder to go: one that was killed and is
  // started again finds itself, for the rest of a lease.
  int64_t vacancy_timeout_ms = 0;
};

// The same for a daemon without others that might take over: leads as long as
// the store is open.
// Errors: also kFailedPrecondition, naming the holder, if somebody else leads.
absl::StatusOr<std::unique_ptr<Store>> OpenLoneEtcdStore(
    const LoneEtcdStoreOptions& options);

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_STORE_H_
