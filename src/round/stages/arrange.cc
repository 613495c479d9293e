// The stage that arranges placements by their tasks' preferences of each other.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "round/search/arrangement.h"
#include "round/stages/stage.h"

namespace sluice {
namespace {

class ArrangeStage : public Stage {
 public:
  explicit ArrangeStage(RoundContext* context) : context_(*context) {}

  std::optional<RoundWork> Next() override {
    // An arrangement may take as much work as a step has.
    if (context_.budget.in_step() > kWorkPerStep / 2) return Pause();
    const uint64_t version = context_.state.version();
    result_.has_moved = Arrange(&context_) > 0;
    KeepProof(version);
    return std::nullopt;
  }

  StageResult End() override { return std::move(result_); }

 private:
  // Without peers, no task moved to where preferences are met less: what was
  // optimal before still is.
  void KeepProof(uint64_t version_before) {
    const std::optional<Appraisal>& known = context_.appraisal;
    if (known.has_value() && known->version == version_before &&
        known->bound == known->cost && context_.state.peers().empty()) {
      result_.appraisal = known;
      result_.appraisal->version = context_.state.version();
    }
  }

  RoundContext& context_;
  StageResult result_;
};

}  // namespace

std::unique_ptr<Stage> MakeArrange(RoundContext* context) {
  return std::make_unique<ArrangeStage>(context);
}

}  // namespace sluice
