// The void policy: placing costs nothing (Firmament's Void model).  With other
// policies it changes nothing; alone it places whatever fits.
//
// In Firmament waiting cost nothing either, so tasks might wait for no reason.
// Here it costs the usual amount.

#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {

std::unique_ptr<CostModel> Make_void() { return std::make_unique<CostModel>(); }

}  // namespace sluice
