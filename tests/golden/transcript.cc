#include "golden/transcript.h"

#include <glog/logging.h>

#include <charconv>
#include <set>
#include <sstream>
#include <utility>

#include "base/strings.h"
#include "explain/explanation.h"
#include "network/band_network.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"

namespace sluice {
namespace {

int64_t ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), number);
  CHECK(result.ec == std::errc() && result.ptr == text.data() + text.size())
      << "'" << text << "' is not a number";
  return number;
}

// "8Gi" in millibytes.
int64_t Bytes(std::string_view text) {
  int64_t unit = 1000;
  for (const std::string_view suffix : {"Ki", "Mi", "Gi"}) {
    unit *= 1024;
    if (!text.ends_with(suffix)) continue;
    return ParseNumber(text.substr(0, text.size() - suffix.size())) * unit;
  }
  return ParseNumber(text) * 1000;
}

// The amounts among `values` whose key begins with `prefix`.
NamedAmounts AmountsOf(const std::map<std::string, std::string>& values,
                       std::string_view prefix) {
  static const std::set<std::string> kOtherKeys = {
      "job",        "name",   "priority", "pu",       "machine",
      "quarantine", "labels", "taints",   "selector", "tolerates"};
  NamedAmounts amounts;
  for (const auto& [key, value] : values) {
    if (kOtherKeys.contains(key) || !key.starts_with(prefix)) continue;
    if (prefix.empty() && key.starts_with("capacity-")) continue;
    const std::string name = key.substr(prefix.size());
    const bool is_bytes = name == "memory" || name == "ephemeral-storage";
    amounts.emplace_back(name, is_bytes ? Bytes(value) : ParseNumber(value));
  }
  return amounts;
}

std::string ValueOr(const std::map<std::string, std::string>& values,
                    const std::string& key, std::string otherwise) {
  const auto it = values.find(key);
  return it == values.end() ? std::move(otherwise) : it->second;
}

// The parts of a list whose separator is a comma.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

// "disk=ssd", or "disk" where the value is empty.
std::pair<std::string, std::string> ToLabel(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// "gpu=a:NoSchedule".
Taint ToTaint(const std::string& text) {
  const size_t colon = text.find(':');
  CHECK(colon != std::string::npos) << "'" << text << "' is no taint";
  const std::string effect = text.substr(colon + 1);
  const auto [key, value] = ToLabel(text.substr(0, colon));
  if (effect == "NoSchedule") return NoSchedule(key, value);
  if (effect == "PreferNoSchedule") return PreferNoSchedule(key, value);
  CHECK(effect == "NoExecute") << "'" << text << "' has no known effect";
  return NoExecute(key, value);
}

// "gpu=a:NoExecute@30".
Toleration ToToleration(const std::string& text) {
  const size_t at = text.find('@');
  const Taint taint = ToTaint(text.substr(0, at));
  if (at == std::string::npos) return Tolerates(taint);
  return Tolerates(taint, ParseNumber(text.substr(at + 1)));
}

MachineSpec ToMachine(const std::string& uuid,
                      const std::map<std::string, std::string>& values) {
  MachineSpec spec;
  spec.uuid = uuid;
  spec.name = uuid;
  spec.allocatable = AmountsOf(values, "");
  if (!values.contains("pods")) spec.allocatable.emplace_back("pods", 110);
  spec.capacity = AmountsOf(values, "capacity-");
  for (const std::string& pu : Parts(ValueOr(values, "pu", ""))) {
    spec.pus.push_back({pu, {}});
  }
  for (const std::string& label : Parts(ValueOr(values, "labels", ""))) {
    spec.labels.push_back(ToLabel(label));
  }
  for (const std::string& taint : Parts(ValueOr(values, "taints", ""))) {
    spec.taints.push_back(ToTaint(taint));
  }
  spec.labels = InOrder(std::move(spec.labels));
  spec.taints = InOrder(std::move(spec.taints));
  spec.quarantine_reason = ValueOr(values, "quarantine", "");
  return spec;
}

SubmitTask ToTask(uint64_t uid,
                  const std::map<std::string, std::string>& values) {
  SubmitTask submit;
  submit.uid = {uid};
  submit.job_uuid = ValueOr(values, "job", "job");
  submit.spec.name = ValueOr(values, "name", StrCat("task-", uid));
  submit.spec.request = AmountsOf(values, "");
  submit.spec.priority =
      static_cast<uint32_t>(ParseNumber(ValueOr(values, "priority", "0")));
  PlacementRules& rules = submit.spec.rules;
  for (const std::string& text : Parts(ValueOr(values, "selector", ""))) {
    const auto [key, value] = ToLabel(text);
    rules.selectors.push_back(LabelIn(key, {value}));
  }
  for (const std::string& text : Parts(ValueOr(values, "tolerates", ""))) {
    rules.tolerations.push_back(ToToleration(text));
  }
  rules = InOrder(std::move(rules));
  submit.spec.quarantine_reason = ValueOr(values, "quarantine", "");
  return submit;
}

std::string_view StateName(const Task& task) {
  if (task.client.IsMuted()) return "muted";
  switch (task.state) {
    case TaskState::kPending:
      return "waits";
    case TaskState::kRunning:
      return "runs";
    case TaskState::kCompleted:
      return "completed";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kRemoved:
      return "removed";
  }
  return "";
}

}  // namespace

Transcript::Line Transcript::Parse(std::string_view line) {
  Line parsed;
  std::istringstream stream{std::string(line)};
  for (std::string word; stream >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      parsed.words.push_back(word);
    } else {
      parsed.values[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return parsed;
}

std::string Transcript::Execute(std::string_view text) {
  const Line line = Parse(text);
  CHECK(!line.words.empty()) << "no command in '" << text << "'";
  const std::string& verb = line.words[0];
  std::string output;
  if (verb == "advance") {
    now_ms_ += ParseNumber(line.words.at(1)) * 1000;
  } else if (verb == "round") {
    cluster_.Round(now_ms_);
    output = EndRound(/*is_stepwise=*/false);
  } else if (verb == "start-round") {
    cluster_.scheduler().StartRound(now_ms_);
  } else if (verb == "pass") {
    output = Pass();
  } else if (verb == "commit") {
    cluster_.scheduler().FinishStep(solution_);
  } else if (verb == "reply") {
    output = Reply();
  } else if (verb == "deliver" || verb == "abandon") {
    cluster_.replies().End(/*is_delivered=*/verb == "deliver");
    cluster_.replies().NoteRead();
  } else if (verb == "tasks") {
    output = Tasks();
  } else if (verb == "machines") {
    output = Machines();
  } else if (verb == "classes") {
    output = Classes();
  } else if (verb == "explain") {
    output = Explain(static_cast<uint64_t>(ParseNumber(line.words.at(1))));
  } else {
    output = Event(line);
  }
  const std::string contradiction = FindContradiction(cluster_.state());
  CHECK(contradiction.empty()) << contradiction << " after '" << text << "'";
  return output;
}

std::string Transcript::Event(const Line& line) {
  const std::string& verb = line.words[0];
  const std::string& name = line.words.at(1);
  const auto uid = [&] { return static_cast<uint64_t>(ParseNumber(name)); };
  if (verb == "add-machine") {
    return Apply(AddMachine{ToMachine(name, line.values)});
  }
  if (verb == "update-machine") {
    return Apply(UpdateMachine{ToMachine(name, line.values)});
  }
  if (verb == "remove-machine") return Apply(RemoveMachine{name});
  if (verb == "submit") return Apply(ToTask(uid(), line.values));
  if (verb == "update") {
    return Apply(UpdateTask{{uid()}, ToTask(uid(), line.values).spec});
  }
  if (verb == "complete") return Apply(CompleteTask{{uid()}});
  if (verb == "fail") return Apply(FailTask{{uid()}});
  if (verb == "remove") return Apply(RemoveTask{{uid()}});
  if (verb == "foreign-pod") {
    return Apply(AddForeignPod{name, ValueOr(line.values, "machine", ""),
                               AmountsOf(line.values, "")});
  }
  if (verb == "remove-foreign-pod") return Apply(RemoveForeignPod{name});
  LOG(FATAL) << "no command '" << verb << "'";
  return "";
}

std::string Transcript::Apply(const Command& command) {
  const std::string held = cluster_.replies().ConcernsUnread(command)
                               ? "held until the reply has ended\n"
                               : "";
  switch (cluster_.Apply(command, now_ms_)) {
    case Ack::kOk:
      return held;
    case Ack::kNotFound:
      return held + "not found\n";
    case Ack::kAlreadyExists:
      return held + "already exists\n";
  }
  return "";
}

std::string Transcript::EndRound(bool is_stepwise) {
  const RoundStats& stats = cluster_.scheduler().round_stats();
  return StrCat(
      is_stepwise ? "over: " : "", "placed ", stats.placed, ", pending ",
      stats.pending,
      stats.evicted > 0 ? StrCat(", evicted ", stats.evicted) : "",
      stats.withdrawn > 0 ? StrCat(", withdrawn ", stats.withdrawn) : "",
      stats.refused > 0 ? StrCat(", refused ", stats.refused) : "", "\n");
}

std::string Transcript::Pass() {
  const auto problem = cluster_.NextProblem();
  if (!problem.has_value()) return EndRound(/*is_stepwise=*/true);
  solution_ = cluster_.SolveFlow(*problem);
  return StrCat(problem->node_count(), " nodes, ", problem->arc_count(),
                " arcs, cost ", solution_.objective / kPartsPerPoint, "\n");
}

std::string Transcript::Reply() {
  const ScheduleReply reply = cluster_.replies().Take(kReplyBytesMax);
  std::string output;
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    output += StrCat(entry.type == DeltaType::kPreempt ? "preempt " : "place ",
                     entry.uid.value, " on ", entry.resource_id, "\n");
  }
  if (!reply.unscheduled.empty()) {
    output += "unscheduled:";
    for (const TaskUid id : reply.unscheduled) output += StrCat(" ", id.value);
    output += "\n";
  }
  return output.empty() ? "nothing\n" : output;
}

std::string Transcript::AmountsText(const Resources& resources) const {
  std::string text;
  for (const auto& [name, amount] : cluster_.state().ToNamed(resources)) {
    const int64_t mebibyte = int64_t{1000} << 20;
    text += StrCat(text.empty() ? "" : " ", name, "=",
                   name == "memory" ? amount / mebibyte : amount,
                   name == "memory" ? "Mi" : "");
  }
  return text.empty() ? "nothing" : text;
}

std::string Transcript::Tasks() const {
  std::string output;
  for (const auto& [id, task] : cluster_.state().tasks()) {
    output +=
        StrCat(task->client.uid.value, " ", task->name, " ", StateName(*task));
    if (task->state == TaskState::kRunning) {
      output +=
          StrCat(" on ", cluster_.state().FindMachine(task->machine)->uuid,
                 task->is_evicted ? ", evicted" : "");
    }
    if (!task->quarantine_reason.empty()) {
      output += StrCat(" (", task->quarantine_reason, ")");
    }
    output += "\n";
  }
  return output.empty() ? "none\n" : output;
}

std::string Transcript::Machines() const {
  std::string output;
  for (const auto& [id, machine] : cluster_.state().machines()) {
    output += StrCat(machine->uuid, machine->is_present ? "" : " (gone)",
                     ": uses ", AmountsText(machine->used), " of ",
                     AmountsText(machine->allocatable), "\n");
  }
  return output.empty() ? "none\n" : output;
}

std::string Transcript::Classes() const {
  std::string output;
  for (const auto& [key, tasks] : cluster_.state().pending()) {
    output += StrCat("class ", key.name, ":");
    for (const auto& [sequence, task] : tasks) {
      output += StrCat(" ", task->client.uid.value);
    }
    output += "\n";
  }
  return output.empty() ? "none\n" : output;
}

std::string Transcript::Explain(uint64_t uid) const {
  const Explanation explanation =
      sluice::Explain(cluster_.TaskOf(uid), cluster_.scheduler(), now_ms_);
  std::string output = explanation.summary + "\n";
  for (const Explanation::NearMiss& miss : explanation.nearest) {
    output += StrCat(cluster_.state().FindMachine(miss.machine)->uuid, " ",
                     miss.lacks, "\n");
  }
  return output + StrCat("waiting costs ", explanation.waiting_cost, "\n");
}

}  // namespace sluice
