// The job_bounds policy: each domain should have a minimum of tasks of each
// job, and may have a maximum.  It charges nothing.  In the network the bounds
// are those of the arcs from the job's tasks to the domains.
//
// Without parameters the minimum is one in each rack.
// job_bounds:at_least=0:at_most=8 is for racks, too, and
// ":label=topology.kubernetes.io/zone" for zones; with ":label=" each machine
// is a domain.

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/strings.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/task_data.h"

namespace sluice {
namespace {

constexpr int64_t kBoundMax = 1000000;

class JobBoundsPolicy : public CostModel {
 public:
  absl::Status Set(std::string_view parameter, int64_t value) override {
    int32_t* bound = nullptr;
    if (parameter == "at_least") bound = &bounds_.at_least;
    if (parameter == "at_most") bound = &bounds_.at_most;
    if (bound == nullptr) return CostModel::Set(parameter, value);
    if (value < 0 || value > kBoundMax) {
      return absl::InvalidArgumentError(StrCat(parameter, ": 0 to ", kBoundMax,
                                               " are allowed, 0 for no bound"));
    }
    *bound = static_cast<int32_t>(value);
    if (bounds_.at_most > 0 && bounds_.at_least > bounds_.at_most) {
      return absl::InvalidArgumentError(StrCat("at_least ", bounds_.at_least,
                                               " is above at_most ",
                                               bounds_.at_most));
    }
    return absl::OkStatus();
  }
  absl::Status SetText(std::string_view parameter,
                       std::string_view text) override {
    if (parameter != "label") return CostModel::SetText(parameter, text);
    if (text.size() > kLabelBytesMax) {
      return absl::InvalidArgumentError(
          StrCat("label: at most ", kLabelBytesMax, " bytes are allowed"));
    }
    bounds_.topology_key = text;
    return absl::OkStatus();
  }
  JobBounds BoundsOfJobs() const override { return bounds_; }

 private:
  JobBounds bounds_ = {.topology_key = kRackLabel, .at_least = 1};
};

}  // namespace

std::unique_ptr<CostModel> Make_job_bounds() {
  return std::make_unique<JobBoundsPolicy>();
}

}  // namespace sluice
