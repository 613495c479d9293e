// The records of the state: one key and one value for each task, job, machine
// and undelivered delta, and one for the counters.
//
// A key is a letter for the kind and the id, big-endian, so that a scan meets
// the records in the order in which recovery needs them: counters, jobs,
// machines, tasks, undelivered deltas, each by ascending id.  A value is a
// message of sluice/v1/store.proto, sealed (persist/sealed_value.h).
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

// What this daemon writes.  It changes with every change that an older daemon
// would misunderstand.
inline constexpr uint32_t kRecordFormat = 7;
// The oldest that it reads.  Format 1 knows no placement rules and no taints,
// format 2 no rules about other tasks, no labels of namespaces and no time-outs
// of gangs; their records say the same here.  Before format 4 earlier holders
// of a uid were loads without a name, before format 5 there were no feeds,
// before format 6 no disruption budgets, costs of preemption and tasks that
// displace nobody, and before format 7 no machine was draining.
inline constexpr uint32_t kRecordFormatMin = 1;

// The first byte of a key, ascending in the order of recovery.
enum class RecordKind : char {
  kCounters = 'c',
  kJob = 'j',
  kMachine = 'm',
  kTask = 't',
  kDelta = 'u',  // As long as it is undelivered.
};

std::string CountersKey();
std::string JobKey(JobId id);
std::string MachineKey(MachineId id);
std::string TaskKey(TaskId id);
std::string DeltaKey(uint64_t sequence);

// A key for people, in the notation of RocksDB's own tools:
// "0x740000000000000007".
std::string KeyText(std::string_view key);

// The batch that makes the store hold `state`, given that it holds what `state`
// was before `changes`: each record in them is put as it is now, or deleted
// where it is gone.  The same state and changes give the same bytes.
WriteBatch EncodeChanges(const ClusterState& state, const ChangeSet& changes);

}  // namespace sluice

#endif  // SLUICE_PERSIST_RECORDS_H_
