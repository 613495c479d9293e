// The void policy: placing costs nothing (Firmament's Void model).  Beside
// others it changes nothing; alone it places whatever fits.
//
// There waiting cost nothing either, so that tasks might wait for no reason.
// Here it costs what it always does.

#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {

std::unique_ptr<CostModel> Make_void() { return std::make_unique<CostModel>(); }

}  // namespace sluice
