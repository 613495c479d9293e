// The stage that arranges what was placed by what its tasks wish of each other.

#include <memory>
#include <optional>

#include "core/arrangement.h"
#include "core/stages/stage.h"

namespace sluice {
namespace {

class ArrangeStage : public Stage {
 public:
  explicit ArrangeStage(RoundContext* context) : context_(*context) {}

  std::optional<RoundWork> Next() override {
    // An arrangement may take as many looks as a step has.
    if (context_.looks > kLooksPerStep / 2) return Pause();
    context_.has_arranged = Arrange(&context_) > 0;
    return std::nullopt;
  }

 private:
  RoundContext& context_;
};

}  // namespace

std::unique_ptr<Stage> MakeArrange(RoundContext* context) {
  return std::make_unique<ArrangeStage>(context);
}

}  // namespace sluice
