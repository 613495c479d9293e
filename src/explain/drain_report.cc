#include "explain/drain_report.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/strings.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

std::string HoldText(const Task& task, DrainHold hold, Draining* draining) {
  switch (hold) {
    case DrainHold::kForeign:
      return "another scheduler placed it";
    case DrainHold::kNoOwner:
      return "no owner: nothing would create a replacement";
    case DrainHold::kOfGang:
      return "of a gang";
    case DrainHold::kNotReached:
      return "its client cannot be told now";
    case DrainHold::kBudget:
      break;
    case DrainHold::kNoMachine:
      return "no machine has room";
  }
  const std::string* budget = draining->FindExhaustedBudget(task);
  return budget == nullptr
             ? "several budgets of feeds select it"
             : StrCat("budget ", ShownText(*budget), " allows no more now");
}

}  // namespace

DrainReport ReportDrain(const Machine& machine, const Scheduler& scheduler) {
  Draining draining(scheduler.state(), scheduler.constraints());
  DrainReport report;
  std::set<ClassKey> misfits;  // A move only takes room.
  const auto target_of = [&](const Task& task) -> const Machine* {
    if (misfits.contains(task.class_key)) return nullptr;
    const Machine* target = draining.FindTarget(
        task, [](const Machine&) { return std::pair(Cost{0}, Cost{0}); });
    if (target == nullptr) misfits.insert(task.class_key);
    return target;
  };
  const std::vector<const Task*> tasks = draining.TasksToMove(machine);
  report.leaving = std::ssize(machine.tasks) - std::ssize(tasks);
  for (const Task* task : tasks) {
    std::optional<DrainHold> hold = draining.HoldOf(*task);
    if (!hold.has_value()) {
      const Machine* target = target_of(*task);
      if (target != nullptr) {
        draining.NoteMoveToCome(*task, target->id);
        ++report.movable;
        continue;
      }
      hold = DrainHold::kNoMachine;
    }
    std::string text = HoldText(*task, *hold, &draining);
    auto held = std::ranges::find(report.held, text, &DrainReport::Held::text);
    if (held == report.held.end()) {
      report.held.push_back({.hold = *hold, .text = std::move(text)});
      held = std::prev(report.held.end());
    }
    held->tasks.push_back(task);
  }
  std::ranges::stable_sort(
      report.held, std::ranges::greater{},
      [](const DrainReport::Held& held) { return held.tasks.size(); });
  return report;
}

}  // namespace sluice
