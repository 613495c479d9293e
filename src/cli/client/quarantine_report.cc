#include "cli/client/quarantine_report.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "firmament/firmament_scheduler.pb.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

void QuarantineReport::Note(const Event& event, int64_t line_number) {
  using firmament::ResourceTopologyNodeDescriptor;
  using firmament::TaskDescription;
  const google::protobuf::Message& request = *event.request;
  if (request.GetDescriptor() == TaskDescription::descriptor()) {
    const auto& task = static_cast<const TaskDescription&>(request);
    tasks_[task.task_descriptor().uid()] = line_number;
  } else if (request.GetDescriptor() ==
             ResourceTopologyNodeDescriptor::descriptor()) {
    const auto& machine =
        static_cast<const ResourceTopologyNodeDescriptor&>(request);
    machines_[machine.resource_desc().uuid()] = line_number;
  }
}

absl::Status QuarantineReport::Ask(Connection& connection) {
  if (!machines_.empty()) {
    ASSIGN_OR_RETURN(const v1::ListMachinesResponse listed,
                     connection.ListMachines({}));
    for (const v1::Machine& machine : listed.machines()) {
      const auto sent = machines_.find(machine.uuid());
      if (sent == machines_.end() ||
          machine.condition() != v1::Machine::QUARANTINED) {
        continue;
      }
      entries_.push_back({sent->second, "machine", machine.uuid(),
                          machine.name(), machine.quarantine_reason()});
    }
  }
  if (tasks_.empty()) return absl::OkStatus();
  v1::ListTasksRequest request;
  request.set_pending_only(true);
  request.add_states(v1::Task::QUARANTINED);
  ASSIGN_OR_RETURN(const v1::ListTasksResponse listed,
                   connection.ListTasks(std::move(request)));
  for (const v1::Task& task : listed.tasks()) {
    const auto sent = tasks_.find(task.uid());
    if (sent == tasks_.end() || task.state() != v1::Task::QUARANTINED) continue;
    entries_.push_back({sent->second, "task", StrCat(task.uid()), task.name(),
                        task.quarantine_reason()});
  }
  return absl::OkStatus();
}

void QuarantineReport::PrintTable(std::ostream& out) const {
  const bool has_lines = std::ranges::any_of(entries_, [](const Entry& entry) {
    return entry.line_number != kNoLine;
  });
  std::vector<Table::Column> columns = {
      {"QUARANTINED"}, {"ID"}, {"NAME"}, {"REASON"}};
  if (has_lines) columns.insert(columns.begin(), {"LINE", Align::kRight});
  Table table(std::move(columns));
  for (const Entry& entry : entries_) {
    std::vector<std::string> cells = {
        entry.kind, entry.id, NameOrId(entry.name, entry.id), entry.reason};
    if (has_lines) cells.insert(cells.begin(), StrCat(entry.line_number));
    table.AddRow(std::move(cells));
  }
  table.Print(out);
}

void QuarantineReport::PrintJson(std::ostream& out) const {
  for (const Entry& entry : entries_) {
    out << '{';
    if (entry.line_number != kNoLine) {
      out << "\"line\":" << entry.line_number << ',';
    }
    out << "\"quarantined\":\"" << entry.kind
        << "\",\"id\":" << JsonString(entry.id)
        << ",\"name\":" << JsonString(entry.name)
        << ",\"reason\":" << JsonString(entry.reason) << "}\n";
  }
}

}  // namespace sluice
