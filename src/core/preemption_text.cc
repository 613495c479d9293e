#include "core/preemption_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/shown_text.h"
#include "core/disruptions.h"
#include "core/running_tasks.h"

namespace sluice {
namespace {

class Displacing {
 public:
  Displacing(const Task& task, const ClusterState& state,
             const ConstraintSet& constraints, const PreemptionOptions& options)
      : task_(task),
        state_(state),
        constraints_(constraints),
        options_(options),
        peers_(state, constraints, task.class_key),
        disruptions_(state) {}

  std::string Text() {
    for (const auto& [id, machine] : state_.machines()) {
      if (machine->IsUsable()) Ask(*machine);
    }
    if (machines_ > 0) {
      return StrCat("; ", MachinesText(machines_),
                    " have room for it without what is less urgent, which the "
                    "next round may stop");
    }
    if (protected_machines_ > 0) {
      return StrCat("; ", MachinesText(protected_machines_),
                    " have room for it without what is less urgent, but "
                    "disruption budgets protect that: ",
                    BudgetsText());
    }
    if (!is_any_less_urgent_)
      return "; nothing that is less urgent can be stopped";
    return "; no machine would have room for it without what is less urgent";
  }

 private:
  static std::string MachinesText(int64_t count) {
    return StrCat(count, count == 1 ? " machine would" : " machines would");
  }

  void Ask(const Machine& machine) {
    Resources all;
    Resources unprotected;
    std::map<size_t, int64_t> taken;  // Of budgets.
    std::set<size_t> protecting;
    for (const TaskId id : machine.tasks) {
      const Task& other = *state_.FindTask(id);
      if (other.is_evicted) {
        all += other.class_key.request;
        unprotected += other.class_key.request;
        continue;
      }
      if (!MayBeStopped(other, task_.class_key.priority, state_)) continue;
      is_any_less_urgent_ = true;
      all += other.class_key.request;
      const std::vector<size_t>& budgets = disruptions_.BudgetsOf(other);
      bool is_protected = disruptions_.Allowed(budgets) == 0;
      for (const size_t b : budgets) {
        if (++taken[b] <= disruptions_.standings()[b].allowed &&
            !is_protected) {
          continue;
        }
        is_protected = true;
        protecting.insert(b);
      }
      if (!is_protected || options_.breaks_budgets) {
        unprotected += other.class_key.request;
      }
    }
    if (!WouldFit(machine, all)) return;
    if (WouldFit(machine, unprotected)) {
      ++machines_;
      return;
    }
    ++protected_machines_;
    budgets_.merge(protecting);
  }

  bool WouldFit(const Machine& machine, const Resources& gone) const {
    const ClassKey& key = task_.class_key;
    if (!key.request.FitsIn(machine.Free() + gone)) return false;
    Machine after = machine;
    after.used -= gone;
    return constraints_.Allows(key, after) && IsAllowedByPeers(machine);
  }

  // Whom it could displace does not keep it away.
  bool IsAllowedByPeers(const Machine& machine) const {
    const ClassKey& key = task_.class_key;
    if (peers_.Allows(machine)) return true;
    bool is_any_in_the_way = false;
    for (const TaskId id : machine.tasks) {
      const Task& other = *state_.FindTask(id);
      if (!state_.peers().KeepApart(key, other.class_key)) continue;
      if (!other.is_evicted && !MayBeStopped(other, key.priority, state_)) {
        return false;
      }
      is_any_in_the_way = true;
    }
    return is_any_in_the_way;
  }

  std::string BudgetsText() const {
    const std::vector<size_t> budgets(budgets_.begin(), budgets_.end());
    return JoinShown(std::span(budgets), ", ", [this](size_t b) {
      const Disruptions::Standing& one = disruptions_.standings()[b];
      if (one.available - one.needed > one.allowed) {
        return StrCat(ShownText(one.name), " lets ", one.allowed, " go");
      }
      return StrCat(ShownText(one.name), " needs ", one.needed,
                    " available tasks and has ", one.available);
    });
  }

  const Task& task_;
  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const PreemptionOptions& options_;
  const ClassPeers peers_;
  Disruptions disruptions_;
  bool is_any_less_urgent_ = false;
  // That would have room, within budgets and otherwise.
  int64_t machines_ = 0;
  int64_t protected_machines_ = 0;
  std::set<size_t> budgets_;  // Those that forbid that.
};

}  // namespace

std::string MayStopText(const Task& task, const ClusterState& state,
                        const ConstraintSet& constraints,
                        const PreemptionOptions& options) {
  if (options.mode == Preemption::kOff ||
      state.nominations().Contains(task.id)) {
    return "";
  }
  if (task.class_key.rules->never_preempts) {
    return "; nobody is stopped for it: its preemption policy is NEVER";
  }
  return Displacing(task, state, constraints, options).Text();
}

std::string StoppedForText(const Task& task, const ClusterState& state) {
  if (!task.is_evicted) return "";
  const Machine& machine = *state.FindMachine(task.machine);
  std::vector<const Task*> nominees;
  for (const TaskId id : machine.nominated) {
    nominees.push_back(state.FindTask(id));
  }
  if (nominees.empty()) return "";
  const Task& highest = **std::ranges::max_element(
      nominees, {}, [](const Task* one) { return one->class_key.priority; });
  std::string text = StrCat(" to make room for ", ShownText(highest.name),
                            " of priority ", highest.class_key.priority);
  if (nominees.size() > 1)
    text += StrCat(" and ", nominees.size() - 1, " more");
  return text;
}

}  // namespace sluice
