#include "rpc/inspect_drain.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "constraints/named_task.h"
#include "constraints/shown_text.h"
#include "explain/drain_report.h"

namespace sluice {
namespace {

constexpr size_t kNamesMax = 5;  // Of tasks that stay for one reason.

std::string_view CodeOf(DrainHold hold) {
  switch (hold) {
    case DrainHold::kForeign:
      return "foreign";
    case DrainHold::kNoOwner:
      return "no_owner";
    case DrainHold::kOfGang:
      return "gang";
    case DrainHold::kNotReached:
      return "not_reached";
    case DrainHold::kBudget:
      return "budget";
    case DrainHold::kNoMachine:
      break;
  }
  return "no_machine";
}

// True if waiting is enough.  It is not for kNoMachine: other tasks have to
// leave their machines, or machines have to join.
bool IsForNow(DrainHold hold) {
  return hold == DrainHold::kNotReached || hold == DrainHold::kBudget;
}

std::string NameOf(const Task& task) {
  return task.name.empty() ? IdAtClient(task) : task.name;
}

}  // namespace

absl::StatusOr<const Machine*> FindMachineNamed(
    const ClusterState& state, const std::string& uuid_or_name) {
  // Machines need not have names: an empty one names none.
  if (uuid_or_name.empty()) {
    return absl::InvalidArgumentError("no machine is named");
  }
  if (const Machine* machine = state.FindMachine(uuid_or_name)) return machine;
  std::vector<const Machine*> present;
  std::vector<const Machine*> departed;
  for (const auto& [id, machine] : state.machines()) {
    if (machine->name != uuid_or_name) continue;
    (machine->is_present ? present : departed).push_back(machine.get());
  }
  const std::vector<const Machine*>& named =
      present.empty() ? departed : present;
  if (named.empty()) {
    return absl::NotFoundError(StrCat("no machine has the uuid or the name ",
                                      ShownText(uuid_or_name)));
  }
  if (named.size() > 1) {
    return absl::FailedPreconditionError(
        StrCat(named.size(), " machines have the name ",
               ShownText(uuid_or_name), ": say which by its uuid"));
  }
  return named.front();
}

void InspectDrain(const Scheduler& scheduler, const Machine& machine,
                  v1::Drain* response) {
  response->set_machine_uuid(machine.uuid);
  response->set_machine_name(machine.name);
  response->set_is_draining(machine.IsDraining());
  const int64_t tasks = std::ssize(machine.tasks);
  response->set_left(
      std::max<int64_t>(machine.draining_from.value_or(tasks) - tasks, 0));
  const DrainReport report = ReportDrain(machine, scheduler);
  response->set_leaving(report.leaving);
  response->set_movable(report.movable);
  for (const DrainReport::Held& held : report.held) {
    v1::Drain::Held* message = response->add_held();
    message->set_code(std::string(CodeOf(held.hold)));
    message->set_text(held.text);
    message->set_tasks(std::ssize(held.tasks));
    message->set_is_for_now(IsForNow(held.hold));
    for (const Task* task : held.tasks) {
      if (std::cmp_equal(message->task_names_size(), kNamesMax)) break;
      message->add_task_names(NameOf(*task));
    }
  }
  if (machine.foreign_pods.empty()) return;
  v1::Drain::Held* message = response->add_held();
  message->set_code("foreign_pod");
  message->set_text("a pod of another scheduler");
  message->set_tasks(std::ssize(machine.foreign_pods));
  for (const auto& [name, usage] : machine.foreign_pods) {
    if (std::cmp_equal(message->task_names_size(), kNamesMax)) break;
    message->add_task_names(name);
  }
}

}  // namespace sluice
