// The job spread policy: tasks of a job go to different machines where they
// can (Nomad: job anti-affinity; Kubernetes: the default constraints of
// PodTopologySpread).
//
//   1 for each other task of its job on the machine
//
// So it costs least to have as many tasks of the job on one machine as on the
// next.  This comes before load, and after any preference.

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
