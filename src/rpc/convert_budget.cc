#include "rpc/convert_budget.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/status_macros.h"
#include "rpc/convert_peers.h"

namespace sluice {
namespace {

constexpr int64_t kPercentMax = 100;

// "3" or "40%".
absl::Status ReadAmount(std::string_view field, std::string_view text,
                        DisruptionBudget* budget) {
  std::string_view digits = text;
  budget->is_percent = digits.ends_with('%');
  if (budget->is_percent) digits.remove_suffix(1);
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] =
      std::from_chars(digits.data(), end, budget->amount);
  if (error != std::errc() || rest != end || budget->amount < 0) {
    return Invalid(
        StrCat(field, ": ", Quoted(text),
               " is neither a number nor a percentage such as '40%'"));
  }
  const int64_t max = budget->is_percent ? kPercentMax : kBudgetAmountMax;
  if (budget->amount > max) {
    return Invalid(StrCat(field, ": ", Quoted(text), " is more than ", max,
                          budget->is_percent ? "%" : ""));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(std::string_view field, int64_t count) {
  if (count >= 0 && count <= kBudgetAmountMax) return absl::OkStatus();
  return Invalid(
      StrCat(field, ": ", count, " is not in 0 to ", kBudgetAmountMax));
}

}  // namespace

absl::StatusOr<DisruptionBudget> ToBudget(
    const firmament::DisruptionBudget& message, Faults* faults) {
  const bool has_minimum = !message.min_available().empty();
  if (has_minimum == !message.max_unavailable().empty()) {
    return Invalid(has_minimum
                       ? "min_available and max_unavailable: both are stated"
                       : "neither min_available nor max_unavailable is stated");
  }
  DisruptionBudget budget;
  if (has_minimum) {
    budget.limit = DisruptionBudget::Limit::kMinAvailable;
    RETURN_IF_ERROR(
        ReadAmount("min_available", message.min_available(), &budget));
  } else {
    budget.limit = DisruptionBudget::Limit::kMaxUnavailable;
    RETURN_IF_ERROR(
        ReadAmount("max_unavailable", message.max_unavailable(), &budget));
  }
  RETURN_IF_ERROR(CheckCount("expected", message.expected()));
  budget.expected = message.expected();
  if (message.has_allowed()) {
    RETURN_IF_ERROR(CheckCount("allowed", message.allowed()));
    budget.allowed = message.allowed();
  }
  if (!message.has_labelselector()) return budget;
  RETURN_IF_ERROR(CheckSize("namespace", message.namespace_(), kNameBytesMax));
  TaskSelector& tasks = budget.tasks.emplace();
  tasks.namespaces = {message.namespace_()};
  ASSIGN_OR_RETURN(tasks.labels, ToConditions(message.labelselector(), faults));
  return budget;
}

}  // namespace sluice
