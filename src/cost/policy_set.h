// The cost models in force, with their costs added up, and the registry of all
// models.

#ifndef SLUICE_COST_POLICY_SET_H_
#define SLUICE_COST_POLICY_SET_H_

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/waiting_cost.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/policy_needs.h"

namespace sluice {

// The default models.
inline constexpr char kDefaultCostModels[] =
    "cpu_memory,job_spread,node_affinity,pod_affinity,taint,topology_spread";

struct CostModelEntry {
  std::string_view name;
  CostKind kind;
  std::string_view reads;  // What its cost depends on, for people.
  std::string_view summary;
  std::unique_ptr<CostModel> (*make)();
};

// All models, by name.
std::span<const CostModelEntry> CostModels();

class PolicySet {
 public:
  // `names` as in --cost_model: "cpu_memory,random:seed=7".  Errors:
  // kInvalidArgument for an unknown, empty or repeated name, for an invalid
  // parameter, for interference that no model charges, and for aggregates by
  // different labels.
  static absl::StatusOr<PolicySet> FromNames(std::string_view names);

  // `used` as in Machine: reclaimed amounts of a measured machine are no load.
  Cost LoadCost(const Machine& machine, const Resources& used) const {
    if (machine.is_measured)
      return LoadCostOf(machine, used - machine.reclaimed);
    return LoadCostOf(machine, used);
  }
  // The label by which machines are charged together; empty: none.
  std::string_view AggregateLabel() const {
    const auto& models = Charging(CostKind::kAggregate);
    return models.empty() ? std::string_view()
                          : models.front()->AggregateLabel();
  }
  Cost AggregateCost(const Resources& used, const Resources& offered) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kAggregate)) {
      cost += model->AggregateCost(used, offered);
    }
    return cost;
  }
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kPreference)) {
      cost += model->PreferenceCost(rules, machine);
    }
    return cost;
  }
  // The additional charge if it is known how fast the task's kind of work runs
  // there (cost/speed_prices.h).
  Cost SpeedCost(const ExpectedSpeed& speed) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kPreference)) {
      cost += model->SpeedCost(speed);
    }
    return cost;
  }
  Cost PeerCost(const PeerStanding& standing) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kPeers)) {
      cost += model->PeerCost(standing);
    }
    return cost;
  }
  Cost SiblingCost(int64_t siblings) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kSiblings)) {
      cost += model->SiblingCost(siblings);
    }
    return cost;
  }
  // The cost of leaving a task waiting, given the cost `by_age` by its age
  // alone (cost/waiting_cost.h).  At most kWaitingCostMax, which is also the
  // bound by age alone.  So sums keep the bounds that they have without such
  // policies, and nothing that waits long enough is outbid.
  Cost WaitingCost(Cost by_age, const ExpectedRun& run) const {
    for (const CostModel* model : Charging(CostKind::kWaiting)) {
      by_age = std::min(by_age * model->WaitingFactor(run), kWaitingCostMax);
    }
    return by_age;
  }
  // A task that is to be placed on a machine as it is.
  struct Circumstances {
    const Machine& machine;
    const PlacementRules& rules;
    Resources used;
    PeerStanding standing;
    int64_t siblings = 0;
    std::optional<ExpectedSpeed> speed = {};  // Nullopt: unknown.
    // Those of the machine's aggregate; empty if it is in none.
    Resources used_together = {};
    Resources offered_together = {};
  };
  // What each policy charges then, in the order of names().
  std::vector<Cost> TermsOf(const Circumstances& there) const;
  // As CostModel::BoundsOfJobs() of the first such model.
  JobBounds BoundsOfJobs() const {
    const auto& models = Charging(CostKind::kBounds);
    return models.empty() ? JobBounds() : models.front()->BoundsOfJobs();
  }
  // What the models ask about tasks.
  PolicyNeeds Needs() const;
  // As CostModel::DetourMax(), of the least patient model; nullopt if none has
  // any.
  std::optional<Cost> DetourMax(int64_t waited_ms) const;
  // What it limits: CostModel::PreferenceCost() of the models that have one.
  Cost DetourCost(const PlacementRules& rules, const Machine& machine) const;
  // As CostModel::SpeedSamplesMin(), of the model that asks for the most.
  std::optional<int64_t> SpeedSamplesMin() const;
  // True if any model may charge it.
  bool Charges(CostKind kind) const { return !Charging(kind).empty(); }
  // Without parameters.
  const std::vector<std::string>& names() const { return names_; }
  bool Has(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
  }
  // True if it is for any of the models; see CostModel.
  bool TellsMachinesApart() const {
    return std::ranges::any_of(
        models_, [](const auto& model) { return model->TellsMachinesApart(); });
  }
  bool FallsWithLoad() const {
    return std::ranges::any_of(
        models_, [](const auto& model) { return model->FallsWithLoad(); });
  }
  // Texts for preferences that tasks may state but no model charges; empty if
  // there are none.
  std::string UnheededWishes() const;

 private:
  Cost LoadCostOf(const Machine& machine, const Resources& load) const {
    Cost cost = 0;
    for (const CostModel* model : Charging(CostKind::kLoad)) {
      cost += model->LoadCost(machine, load);
    }
    return cost;
  }
  std::optional<Interference> FindInterference() const;
  std::optional<KindScheme> FindKindScheme() const;  // The first's.
  const std::vector<const CostModel*>& Charging(CostKind kind) const {
    return of_kind_[static_cast<size_t>(kind)];
  }

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<CostModel>> models_;
  static constexpr size_t kKindCount =
      static_cast<size_t>(CostKind::kBounds) + 1;
  std::array<std::vector<const CostModel*>, kKindCount> of_kind_;
};

}  // namespace sluice

#endif  // SLUICE_COST_POLICY_SET_H_
