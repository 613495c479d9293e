// Converts the state to the messages of sluice.v1.Inspector.
//
// Threads: free functions; call them on the core thread (CoreLoop::Read).

#ifndef SLUICE_RPC_INSPECT_H_
#define SLUICE_RPC_INSPECT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "loop/core_loop.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

// What the daemon knows about itself.
struct DaemonInfo {
  std::string version;
  std::string store;  // "memory", or the directory.
  std::vector<std::string> cost_models;
  int64_t ready_us = 0;  // When it became ready, on the monotonic clock.
  // Says who follows if several daemons share the store.  Thread-safe.
  std::function<void(v1::Replicas*)> replicas = nullptr;
};

v1::Status InspectStatus(const CoreView& view, const DaemonInfo& daemon,
                         int64_t now_us);

// Threads: any.
void InspectPolicies(const DaemonInfo& daemon,
                     v1::ListPoliciesResponse* response);

// Pages hold at most kPageSizeMax entries, which is also the default, and fewer
// if these take more than kPageBytesMax.  A page continues after the last entry
// of the one before, so entries that come and go between two pages shift
// nothing.
// Errors: kInvalidArgument for a negative size, or a token that no page gave.
absl::Status InspectMachines(const CoreView& view,
                             const v1::ListMachinesRequest& request,
                             v1::ListMachinesResponse* response);
// A page of few among many walks over all, as InspectJob() does.
// Further errors: those of TaskFilter::Of().
absl::Status InspectTasks(const CoreView& view,
                          const v1::ListTasksRequest& request,
                          v1::ListTasksResponse* response);

// Both walk over all tasks, since there is no index by job or by name: this
// takes a millisecond of the core thread per hundred thousand tasks.  A task is
// found at once by its uid, or by the id that its feed gave it.
// Errors: kNotFound.
absl::Status InspectJob(const CoreView& view, const v1::GetJobRequest& request,
                        v1::Job* response);
absl::Status InspectTask(const CoreView& view,
                         const v1::ExplainTaskRequest& request,
                         v1::TaskExplanation* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_H_
