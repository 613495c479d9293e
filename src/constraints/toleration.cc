#include "constraints/toleration.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect.has_value() && *toleration.effect != taint.effect) {
    return false;
  }
  switch (toleration.op) {
    case TolerationOperator::kExists:
      return toleration.key.empty() || toleration.key == taint.key;
    case TolerationOperator::kEqual:
      return toleration.key == taint.key && toleration.value == taint.value;
    case TolerationOperator::kUnknown:
      return false;
  }
  return false;
}

std::string_view EffectText(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kUnknown:
      break;
  }
  return "unknown effect";
}

}  // namespace

bool IsTolerated(const Taint& taint, std::span<const Toleration> tolerations) {
  return std::ranges::any_of(tolerations, [&](const Toleration& toleration) {
    return Tolerates(toleration, taint);
  });
}

std::string TaintText(const Taint& taint) {
  return StrCat(ShownText(taint.key), taint.value.empty() ? "" : "=",
                ShownText(taint.value), ":", EffectText(taint.effect));
}

}  // namespace sluice
