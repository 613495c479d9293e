// The domain_spreading policy: the rack (or zone, or whatever a label names)
// with the lowest use comes first, however its single machines are used.  The
// machines of a rack share power and an uplink, and fail together.
//
//   6,000 x used / offered of all its machines, the mean of cpu and memory
//
// A whole domain that is full costs more than anything cpu_memory charges for a
// machine.  So domains fill evenly, and each by its emptiest machines.  A
// machine without the label is charged nothing.
//
// domain_spreading:label=topology.kubernetes.io/zone is for zones; the default
// label is "rack".

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/int128.h"
#include "base/limits.h"
#include "base/strings.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/task_data.h"

namespace sluice {
namespace {

constexpr Cost kScale = 3000;  // Of either resource.

class DomainSpreading : public CostModel {
 public:
  absl::Status SetText(std::string_view parameter,
                       std::string_view text) override {
    if (parameter != "label") return CostModel::SetText(parameter, text);
    if (text.empty() || text.size() > kLabelBytesMax) {
      return absl::InvalidArgumentError(
          StrCat("label: 1 to ", kLabelBytesMax, " bytes are allowed"));
    }
    label_ = text;
    return absl::OkStatus();
  }
  std::string_view AggregateLabel() const override { return label_; }
  Cost AggregateCost(const Resources& used,
                     const Resources& offered) const override {
    return PartOf(used[kCpu], offered[kCpu]) +
           PartOf(used[kMemory], offered[kMemory]);
  }

 private:
  static Cost PartOf(int64_t used, int64_t offered) {
    if (offered <= 0 || used <= 0) return 0;
    if (used >= offered) return kScale;
    // Dividing narrow numbers takes a fraction of the time.
    constexpr int64_t kNarrow = std::numeric_limits<int64_t>::max() / kScale;
    if (used <= kNarrow) return used * kScale / offered;
    return static_cast<Cost>(static_cast<Int128>(used) * kScale / offered);
  }

  std::string label_ = kRackLabel;
};

}  // namespace

std::unique_ptr<CostModel> Make_domain_spreading() {
  return std::make_unique<DomainSpreading>();
}

}  // namespace sluice
