// The job spread policy: tasks of a job go to different machines where they
// can (Nomad: job anti-affinity; Kubernetes: the default constraints of
// PodTopologySpread).
//
//   1 for each other task of its job on the machine
//
// So costs are lowest if each machine has equally many tasks of the job.  This
// counts before load, and after any preference.

#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

class JobSpread : public CostModel {
 public:
  Cost SiblingCost(int64_t siblings) const override { return siblings; }
};

}  // namespace

std::unique_ptr<CostModel> Make_job_spread() {
  return std::make_unique<JobSpread>();
}

}  // namespace sluice
