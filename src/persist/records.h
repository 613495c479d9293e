// The records of the state: one key and one value for each task, job, machine
// and undelivered delta, and one for the counters.
//
// A key is a letter for the kind, then the id, big-endian.  So a scan meets the
// records in the order in which recovery needs them: counters, jobs, machines,
// tasks, undelivered deltas, each by ascending id.  A value is a message of
// sluice/v1/store.proto, sealed (persist/sealed_value.h).
//
// Threads: free functions without state.

#ifndef SLUICE_PERSIST_RECORDS_H_
#define SLUICE_PERSIST_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "persist/store.h"
#include "sluice/base/ids.h"
#include "state/cluster_state.h"

namespace sluice {

// The newest format.  It rises with every change that an older daemon would
// misunderstand.
inline constexpr uint32_t kRecordFormat = 8;
// The format of a store in which each uid has the number of the id of the task
// that it names.  Only format 8 can express others.
inline constexpr uint32_t kRecordFormatOfPlainUids = 7;
// The oldest format that it reads.  Format 1 has no placement rules and no
// taints; format 2 has no rules about other tasks, labels of namespaces and
// time-outs of gangs.  Their records mean the same here.  Before format 4,
// earlier holders of a uid were loads without a name.  There were no feeds
// before format 5; no disruption budgets, costs of preemption and tasks that
// displace nobody before format 6; and no draining machines before format 7.
inline constexpr uint32_t kRecordFormatMin = 1;

// The first byte of a key, ascending in the order of recovery.
enum class RecordKind : char {
  kCounters = 'c',
  kJob = 'j',
  kMachine = 'm',
  kTask = 't',
  kDelta = 'u',  // While it is undelivered.
};

std::string CountersKey();
std::string JobKey(JobId id);
std::string MachineKey(MachineId id);
std::string TaskKey(TaskId id);
std::string DeltaKey(uint64_t sequence);

// A key for people, in the notation of RocksDB's own tools:
// "0x740000000000000007".
std::string KeyText(std::string_view key);

// The batch that updates a store that holds `state` as it was before `changes`.
// It puts each record of `changes` as it is now, or deletes it if it is gone.
// The same state and changes give the same bytes.
WriteBatch EncodeChanges(const ClusterState& state, const ChangeSet& changes);

}  // namespace sluice

#endif  // SLUICE_PERSIST_RECORDS_H_
