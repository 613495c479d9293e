#include "rpc/inspect_budgets.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "round/together/disruptions.h"
#include "rpc/pages.h"

namespace sluice {
namespace {

// What identifies a budget, in the order of the list.
struct Key {
  std::string_view name = {};
  bool is_of_feed = false;
  std::string_view owner = {};  // The uuid of its job, or the name of its feed.

  friend auto operator<=>(const Key&, const Key&) = default;
};

Key KeyOf(const Disruptions::Standing& one) {
  if (one.feed != nullptr) return {one.name, true, one.feed->name};
  return {one.name, false, one.job->uuid};
}

// "3:web/job 5f1c": the first number is the length of the name.
constexpr std::string_view kOfFeed = "/feed ";
constexpr std::string_view kOfJob = "/job ";

std::string TokenOf(const Key& key) {
  return StrCat(key.name.size(), ":", key.name,
                key.is_of_feed ? kOfFeed : kOfJob, key.owner);
}

// A key of views into `token`.
std::optional<Key> ParseToken(std::string_view token) {
  const size_t colon = token.find(':');
  const auto size = ParseNumber<size_t>(token.substr(0, colon));
  if (colon == std::string_view::npos || !size.has_value()) return std::nullopt;
  const std::string_view rest = token.substr(colon + 1);
  if (*size > rest.size()) return std::nullopt;
  Key key = {.name = rest.substr(0, *size)};
  const std::string_view owner = rest.substr(*size);
  key.is_of_feed = owner.starts_with(kOfFeed);
  const std::string_view prefix = key.is_of_feed ? kOfFeed : kOfJob;
  if (!owner.starts_with(prefix)) return std::nullopt;
  key.owner = owner.substr(prefix.size());
  return key;
}

void FillBudget(const Disruptions::Standing& one, v1::Budget* message) {
  const DisruptionBudget& budget = *one.budget;
  message->set_name(one.name);
  if (one.job != nullptr) message->set_job_uuid(one.job->uuid);
  if (one.feed != nullptr) message->set_feed(one.feed->name);
  std::string limit = StrCat(budget.amount, budget.is_percent ? "%" : "");
  if (budget.limit == DisruptionBudget::Limit::kMinAvailable) {
    message->set_min_available(std::move(limit));
  } else {
    message->set_max_unavailable(std::move(limit));
  }
  message->set_expected(one.expected);
  message->set_available(one.available);
  message->set_needed(one.needed);
  message->set_allowed(one.allowed);
  if (budget.allowed.has_value()) {
    message->set_allowed_by_client(*budget.allowed);
  }
}

}  // namespace

absl::Status InspectBudgets(const ClusterState& state,
                            const v1::ListBudgetsRequest& request,
                            v1::ListBudgetsResponse* response) {
  ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  std::optional<Key> last;  // Of the page before.
  if (!request.page_token().empty()) {
    last = ParseToken(request.page_token());
    if (!last.has_value()) return NoPageToken(request.page_token());
  }
  const Disruptions disruptions(state);
  std::vector<const Disruptions::Standing*> listed;
  for (const Disruptions::Standing& one : disruptions.standings()) {
    if (!last.has_value() || KeyOf(one) > *last) listed.push_back(&one);
  }
  std::ranges::sort(listed, {}, [](const auto* one) { return KeyOf(*one); });
  PageRoom room(size);
  for (const Disruptions::Standing* one : listed) {
    if (room.IsFull()) {
      const v1::Budget& end = *response->budgets().rbegin();
      const bool is_of_feed = end.job_uuid().empty();
      response->set_next_page_token(TokenOf(
          {end.name(), is_of_feed, is_of_feed ? end.feed() : end.job_uuid()}));
      break;
    }
    v1::Budget* message = response->add_budgets();
    FillBudget(*one, message);
    room.Add(*message);
  }
  return absl::OkStatus();
}

}  // namespace sluice
