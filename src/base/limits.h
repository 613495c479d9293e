// The bounds on messages, descriptions, queues and connections, each with its
// reason.
//
// Whatever exceeds a bound is refused or quarantined with a message that names
// the bound; nothing is cut silently.  The number of machines, tasks, jobs and
// classes is bounded only by memory: a bridge ends itself if one is refused.

#ifndef SLUICE_BASE_LIMITS_H_
#define SLUICE_BASE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace sluice {

// A request: the clients' own limit is 4 MiB; ten-megabyte strings must still
// get an answer instead of a transport error that ends the client.
inline constexpr int kRequestBytesMax = 64 << 20;

// A Schedule reply: clients receive at most 4 MiB (4,194,304 bytes) and end
// themselves beyond it; an eighth is left for framing and for what a client
// may add.  3.5 MiB are 70,000 placements.
inline constexpr size_t kReplyBytesMax = 3584 << 10;

// Messages nest once per level of a machine's tree: the tree, its resources.
// Protobuf's default of 100 would fail the call for deeper trees; at 10,000
// levels parsing uses under 2 MiB of a thread's 8 MiB of stack.
inline constexpr int kMessageDepthMax = 10000;

// Nodes of one machine's tree: a large machine has hundreds of cores.
inline constexpr size_t kTreeNodesMax = 16384;
// Tasks that a machine is said to run already.
inline constexpr size_t kRunningTasksMax = 16384;

// Ids are opaque; longer ones are replaced by a fingerprint.
inline constexpr size_t kIdBytesMax = 1024;

// Kubernetes: names 253, label keys 317, values 63 bytes; four times that.
inline constexpr size_t kNameBytesMax = 4096;
inline constexpr size_t kLabelBytesMax = 4096;
inline constexpr size_t kLabelsMax = 1024;

// Placement rules.  They come with every task and are looked at for every class
// and kind of machine, so each bound is only some ten times what people write.
// Duplicates do not count, except in TaskRules: bridges repeat tolerations with
// every update.
//
// Requirements of a node selector or of one term: some per label of a machine.
inline constexpr size_t kRequirementsMax = 256;
// Values of a requirement: people list machines, a large cluster's racks.  Also
// texts or numbers in a list of TaskRules.
inline constexpr size_t kRequirementValuesMax = 4096;
// Terms of an affinity, towards machines or tasks, required or preferred;
// spread constraints; and rules of a kind in TaskRules.
inline constexpr size_t kAffinityTermsMax = 256;
// Namespaces of a term: people list teams, a large cluster's tenants.
inline constexpr size_t kNamespacesMax = 1024;
// A pattern of job names.  It is compared with every name, in time that grows
// with both: twice the longest name of Kubernetes.  At most kGlobSymbolsMax.
inline constexpr size_t kPatternBytesMax = 512;
inline constexpr size_t kTolerationsMax = 1024;
inline constexpr size_t kHostPortsMax = 1024;
inline constexpr size_t kTaintsMax = 256;
// Controllers that a machine avoids: one for each task that it ever gave up.
inline constexpr size_t kAvoidsMax = 1024;

// A gang's minimum: more tasks than a cluster runs, and less than the numbers
// that mean something else (sluice/state/task.h).
inline constexpr uint64_t kGangMinimumMax = 1 << 24;
// How long a gang may wait to be whole: a year; whatever waits longer waits for
// ever.
inline constexpr int64_t kGangTimeoutSecondsMax = int64_t{366} * 24 * 3600;

// Distinct names of extended resources in the whole cluster; every one may add
// eight bytes to each machine's and task's vectors.
inline constexpr size_t kExtendedResourceNamesMax = 256;

// Machines that went away and are remembered in case they return: a cluster
// of 15,000 may lose and regain all of itself.
inline constexpr size_t kDepartedMachinesMax = 20000;

// Task classes whose names are kept for certain (state/class_names.h); at most
// twice as many are kept.  Each takes some hundred bytes.
inline constexpr size_t kRecentClassesMax = 50000;

// Uids that expect further removals although their task is gone; each costs a
// record of about a hundred bytes.
inline constexpr size_t kRemovedTasksMax = 65536;

// Commands waiting for the core thread: at 20,000 a second three seconds.
inline constexpr size_t kMailboxMax = 65536;

// Arcs of a flow problem that the core thread solves itself, in some 0.2 ms: to
// hand it over and back costs two thread switches and a second write.
inline constexpr int32_t kInlineArcsMax = 1000;

// Commands made durable by one write: more would only delay the first reply.
inline constexpr size_t kBatchMax = 1024;

// The cost of stopping a task.
inline constexpr int32_t kPreemptionCostMax = 100000;

// Feeds that are connected or have stated something: a cluster has one or a few
// bridges.
inline constexpr size_t kFeedsMax = 256;
inline constexpr size_t kFeedNameBytesMax = 253;
inline constexpr int64_t kFeedSettleMsMax = 3600000;
// Budgets of one feed.  A round that may stop tasks looks at all of them for
// each distinct description of a task.
inline constexpr size_t kBudgetsMax = 10000;
inline constexpr int64_t kBudgetAmountMax = 1000000000;
// Events of one message: some 20 milliseconds of the core thread.
inline constexpr int kFeedEventsMax = 4096;
// Messages of one client that are on their way to the core thread: some are
// parsed while others are applied, and written together.
inline constexpr int kFeedBatchesMax = 4;
// Deltas told to a client that it has not confirmed: a second's worth.
inline constexpr size_t kFeedDeltasUnconfirmedMax = 65536;

// Entries of one page of a list: under a millisecond of the core thread.
inline constexpr int kPageSizeMax = 1000;
// Bytes after which a page ends: half of what clients of gRPC take at most,
// unless they are told otherwise.
inline constexpr size_t kPageBytesMax = 2 << 20;

// Open connections to the HTTP port, all told and of one address.  Probes and
// scrapes need a handful; each takes at most 16 KiB and the page of metrics,
// and a file descriptor of the 1,024 that a process often has.
inline constexpr size_t kHttpConnectionsMax = 256;
inline constexpr size_t kHttpConnectionsPerAddressMax = 128;

}  // namespace sluice

#endif  // SLUICE_BASE_LIMITS_H_
