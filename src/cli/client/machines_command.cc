#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/quantity.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/resource_text.h"
#include "cli/client/sparkline.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "machines",
    .arguments = "",
    .summary = "Lists the machines and what is used of each",
    .description =
        R"(Lists the machines in the order in which they were added, with how much of what
they offer is used by tasks and by foreign pods (those that another scheduler
placed).  A departed machine was removed or failed while something of it is
still remembered.  A quarantined one is kept out of scheduling, and NOTE says
why.  A stale one takes nothing until its client, which began anew, announces it
again.  A draining one takes nothing, and what runs there is moved (see
"drain").  NOTE also says if another machine has the same name.

With --usage: which share of the allocatable amounts tasks asked for, and what
of that is given to others (--use_measured_utilization of the daemon); which
share of the capacity was measured last (AddNodeStats, or the samples of a
feed); and a picture of the use of cpu, from the oldest sample kept to the
newest.
)"};

std::string_view ConditionName(v1::Machine::Condition condition) {
  switch (condition) {
    case v1::Machine::READY:
      return "ready";
    case v1::Machine::DEPARTED:
      return "departed";
    case v1::Machine::QUARANTINED:
      return "quarantined";
    case v1::Machine::STALE:
      return "stale";
    case v1::Machine::DRAINING:
      return "draining";
    case v1::Machine::CONDITION_UNSPECIFIED:
    case v1::Machine_Condition_Machine_Condition_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Machine_Condition_Machine_Condition_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return "?";
}

std::string TaintsText(const v1::Machine& machine) {
  std::string text;
  for (const std::string& taint : machine.taints()) {
    text += StrCat(text.empty() ? "" : ", ", taint);
  }
  return text.empty() ? "-" : text;
}

// How many machines have each name, without departed ones.
std::map<std::string, int> CountNames(
    const v1::ListMachinesResponse& machines) {
  std::map<std::string, int> counts;
  for (const v1::Machine& machine : machines.machines()) {
    if (machine.name().empty()) continue;
    if (machine.condition() != v1::Machine::DEPARTED) ++counts[machine.name()];
  }
  return counts;
}

std::string NoteOf(const v1::Machine& machine,
                   const std::map<std::string, int>& names) {
  if (!machine.quarantine_reason().empty()) return machine.quarantine_reason();
  const auto it = names.find(machine.name());
  return it == names.end() || it->second < 2 ||
                 machine.condition() == v1::Machine::DEPARTED
             ? ""
             : "another machine has this name";
}

void PrintMachines(const v1::ListMachinesResponse& machines,
                   std::ostream& out) {
  Table table({{"NAME"},
               {"UUID"},
               {"CONDITION"},
               {"CPU", Align::kRight},
               {"MEMORY", Align::kRight},
               {"PODS", Align::kRight},
               {"TASKS", Align::kRight},
               {"FOREIGN", Align::kRight},
               {"EXTENDED"},
               {"TAINTS"},
               {"NOTE"}});
  const std::map<std::string, int> names = CountNames(machines);
  for (const v1::Machine& machine : machines.machines()) {
    const v1::Resources& used = machine.used();
    const v1::Resources& offered = machine.allocatable();
    table.AddRow({NameOrId(machine.name(), machine.uuid()), machine.uuid(),
                  std::string(ConditionName(machine.condition())),
                  StrCat(FormatCpu(used.cpu_millicores()), "/",
                         FormatCpu(offered.cpu_millicores())),
                  StrCat(FormatMemory(used.memory_millibytes()), "/",
                         FormatMemory(offered.memory_millibytes())),
                  StrCat(used.pods(), "/", offered.pods()),
                  StrCat(machine.running_tasks()),
                  StrCat(machine.foreign_pods()),
                  FormatExtendedUse(used, offered), TaintsText(machine),
                  NoteOf(machine, names)});
  }
  table.Print(out);
}

// REQUIRES: the machine was measured at least once.
std::vector<std::string> UsageCells(const v1::Machine& machine) {
  const v1::MachineSample& last = *machine.usage().rbegin();
  std::vector<double> cpu;
  for (const v1::MachineSample& sample : machine.usage()) {
    cpu.push_back(sample.cpu_ratio());
  }
  return {FormatPart(last.cpu_ratio()), FormatPart(last.memory_ratio()),
          StrCat(last.net_rx_kb()),     StrCat(last.net_tx_kb()),
          FormatAge(last.age_ms()),     Sparkline(cpu)};
}

// Which share of the allocatable amount is given to others.
std::string ReclaimedText(int64_t reclaimed, int64_t offered) {
  return reclaimed < 0 ? StrCat("-", FormatShare(-reclaimed, offered))
                       : FormatShare(reclaimed, offered);
}

void PrintUsage(const v1::ListMachinesResponse& machines, std::ostream& out) {
  std::vector<Table::Column> columns = {
      {"NAME"},
      {"CONDITION"},
      {"CPU ASKED", Align::kRight},
      {"MEMORY ASKED", Align::kRight},
      {"CPU USED", Align::kRight},
      {"MEMORY USED", Align::kRight},
      {"RX KB/S", Align::kRight},
      {"TX KB/S", Align::kRight},
      {"AGE", Align::kRight},
      {"CPU", Align::kLeft, /*is_picture=*/true}};
  const bool is_any_reclaimed =
      std::ranges::any_of(machines.machines(), &v1::Machine::has_reclaimed);
  if (is_any_reclaimed) {
    columns.insert(columns.begin() + 4, {{"CPU RECLAIMED", Align::kRight},
                                         {"MEMORY RECLAIMED", Align::kRight}});
  }
  Table table(std::move(columns));
  for (const v1::Machine& machine : machines.machines()) {
    const v1::Resources& used = machine.used();
    const v1::Resources& offered = machine.allocatable();
    std::vector<std::string> row = {
        NameOrId(machine.name(), machine.uuid()),
        std::string(ConditionName(machine.condition())),
        FormatShare(used.cpu_millicores(), offered.cpu_millicores()),
        FormatShare(used.memory_millibytes(), offered.memory_millibytes())};
    if (machine.has_reclaimed()) {
      const v1::Resources& reclaimed = machine.reclaimed();
      row.push_back(
          ReclaimedText(reclaimed.cpu_millicores(), offered.cpu_millicores()));
      row.push_back(ReclaimedText(reclaimed.memory_millibytes(),
                                  offered.memory_millibytes()));
    } else if (is_any_reclaimed) {
      row.insert(row.end(), 2, "-");
    }
    const std::vector<std::string> measured =
        machine.usage().empty()
            ? std::vector<std::string>{"-", "-", "-", "-", "-", ""}
            : UsageCells(machine);
    row.insert(row.end(), measured.begin(), measured.end());
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

class MachinesCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddSwitch("usage",
                    "Shows what was measured beside what was asked for.",
                    &wants_usage_);
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::ListMachinesRequest request;
    request.set_with_usage(wants_usage_);
    ASSIGN_OR_RETURN(const v1::ListMachinesResponse machines,
                     connection.ListMachines(std::move(request)));
    PrintAnswer(context, machines, wants_usage_ ? &PrintUsage : &PrintMachines);
    return absl::OkStatus();
  }

 private:
  bool wants_usage_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeMachinesCommand() {
  return std::make_unique<MachinesCommand>();
}

}  // namespace sluice
