#include "flow/dimacs_changes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/btree_map.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "flow/dimacs.h"
#include "flow/dimacs_line.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 40;

class ChangeReader {
 public:
  ChangeReader(std::string_view text, NodeIndex node_count)
      : text_(text),
        node_count_(node_count),
        line_count_(std::ranges::count(text, '\n') +
                    (text.empty() || text.ends_with('\n') ? 0 : 1)) {}

  absl::StatusOr<std::vector<DimacsChanges>> Read() &&;

 private:
  absl::Status ReadLine(DimacsLine& line);
  absl::Status ReadArc(DimacsLine& line);
  absl::Status ReadSupply(DimacsLine& line);
  absl::StatusOr<NodeIndex> Node(const DimacsLine& line, int64_t number) const;

  const std::string_view text_;
  const NodeIndex node_count_;
  const int64_t line_count_;
  std::vector<DimacsChanges> groups_;
  DimacsChanges group_;
};

absl::StatusOr<std::vector<DimacsChanges>> ChangeReader::Read() && {
  RETURN_IF_ERROR(ForEachDimacsLine(
      text_, [this](DimacsLine& line) { return ReadLine(line); }));
  if (!group_.arcs.empty() || !group_.supplies.empty()) {
    groups_.push_back(std::move(group_));
  }
  return std::move(groups_);
}

absl::Status ChangeReader::ReadLine(DimacsLine& line) {
  const std::string_view kind = line.Word();
  if (kind == "c" && line.Take("sluice")) {
    return line.Error("'c sluice' is for problems: a change is of a plain arc");
  }
  if (kind.empty() || kind.front() == 'c') return absl::OkStatus();
  if (kind == "x") return ReadArc(line);
  if (kind == "s") return ReadSupply(line);
  if (kind != "r") {
    return line.Error(StrCat("'", Printable(kind, kShownBytes),
                             "' begins no line of changes"));
  }
  RETURN_IF_ERROR(line.End());
  groups_.push_back(std::exchange(group_, {}));
  return absl::OkStatus();
}

absl::StatusOr<NodeIndex> ChangeReader::Node(const DimacsLine& line,
                                             int64_t number) const {
  if (number < 1) {
    return line.Error(StrCat("node ", number, ": nodes are counted from 1"));
  }
  if (number > node_count_ + line_count_) {
    return line.Error(StrCat("node ", number, " is beyond ",
                             node_count_ + line_count_,
                             ": a file of changes adds a node a line at most"));
  }
  if (number > kDimacsNodeCountMax) {
    return absl::OutOfRangeError(StrCat("line ", line.number(), ": node ",
                                        number, " is beyond the limit of ",
                                        kDimacsNodeCountMax));
  }
  return static_cast<NodeIndex>(number - 1);
}

absl::Status ChangeReader::ReadArc(DimacsLine& line) {
  line.Take("arc");
  ASSIGN_OR_RETURN(const DimacsArc arc, line.Arc());
  ASSIGN_OR_RETURN(const NodeIndex tail, Node(line, arc.tail));
  ASSIGN_OR_RETURN(const NodeIndex head, Node(line, arc.head));
  group_.arcs.push_back({.tail = tail,
                         .head = head,
                         .lower = arc.lower,
                         .capacity = arc.capacity,
                         .cost = arc.cost});
  return absl::OkStatus();
}

absl::Status ChangeReader::ReadSupply(DimacsLine& line) {
  const int64_t node = line.Integer("node");
  const FlowUnits number = line.Integer("supply");
  RETURN_IF_ERROR(line.End());
  ASSIGN_OR_RETURN(const NodeIndex index, Node(line, node));
  group_.supplies.push_back(
      {.node = index, .number = number, .line = line.number()});
  return absl::OkStatus();
}

uint64_t KeyOf(NodeIndex tail, NodeIndex head) {
  return uint64_t{static_cast<uint32_t>(tail)} << 32 |
         static_cast<uint32_t>(head);
}

}  // namespace

absl::StatusOr<std::vector<DimacsChanges>> ReadDimacsChanges(
    std::string_view text, NodeIndex node_count) {
  return ChangeReader(text, node_count).Read();
}

DimacsChanger::DimacsChanger(FlowProblem* problem)
    : problem_(*problem),
      next_parallel_(static_cast<size_t>(problem->arc_count()), kNone) {
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    balance_ += problem_.supply(node);
  }
  parallels_.reserve(next_parallel_.size());
  // From the last: each is put before those of its pair that follow it.
  for (ArcIndex i = problem_.arc_count() - 1; i >= 0; --i) {
    const FlowProblem::Arc& arc = problem_.arc(i);
    Parallel& parallel = parallels_[KeyOf(arc.tail, arc.head)];
    next_parallel_[static_cast<size_t>(i)] = std::exchange(parallel.first, i);
  }
}

absl::Status DimacsChanger::Apply(const DimacsChanges& changes) {
  ASSIGN_OR_RETURN(const std::vector<NewSupply> supplies, Supplies(changes));
  ++group_;
  const auto add_up_to = [this](NodeIndex node) {
    while (problem_.node_count() <= node) problem_.AddNode(0);
  };
  for (const auto& [node, supply] : supplies) {
    add_up_to(node);
    balance_ += Int128{supply} - problem_.supply(node);
    problem_.SetSupply(node, supply);
  }
  for (const DimacsChanges::Arc& arc : changes.arcs) {
    add_up_to(std::max(arc.tail, arc.head));
    SetArc(arc);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DimacsChanger::NewSupply>> DimacsChanger::Supplies(
    const DimacsChanges& changes) const {
  // Of one node: its supply under either reading, and the last line about it.
  struct Readings {
    Int128 increased = 0;
    FlowUnits replaced = 0;
    int64_t line = 0;
  };
  const auto supply_of = [this](NodeIndex node) {
    return node < problem_.node_count() ? problem_.supply(node) : 0;
  };
  absl::btree_map<NodeIndex, Readings> readings;
  for (const auto& [node, number, line] : changes.supplies) {
    Readings& of =
        readings.try_emplace(node, Readings{supply_of(node)}).first->second;
    of.increased += number;
    of.replaced = number;
    of.line = line;
  }
  Int128 balance_if_increased = balance_;
  Int128 balance_if_replaced = balance_;
  for (const auto& [node, of] : readings) {
    balance_if_increased += of.increased - supply_of(node);
    balance_if_replaced += Int128{of.replaced} - supply_of(node);
  }
  const bool are_replaced = balance_if_increased != 0 &&
                            balance_if_replaced == 0 &&
                            problem_.gains().empty();
  std::vector<NewSupply> supplies;
  for (const auto& [node, of] : readings) {
    const Int128 supply = are_replaced ? of.replaced : of.increased;
    if (supply > std::numeric_limits<FlowUnits>::max() ||
        supply < std::numeric_limits<FlowUnits>::min()) {
      return absl::OutOfRangeError(StrCat("line ", of.line, ": the supply of ",
                                          "node ", node + 1,
                                          " does not fit 64 bits"));
    }
    supplies.push_back({node, static_cast<FlowUnits>(supply)});
  }
  return supplies;
}

void DimacsChanger::SetArc(const DimacsChanges::Arc& arc) {
  Parallel& parallel = parallels_[KeyOf(arc.tail, arc.head)];
  if (parallel.first == kNone) {
    parallel.first =
        problem_.AddArc(arc.tail, arc.head, arc.capacity, arc.cost, arc.lower);
    next_parallel_.push_back(kNone);
    return;
  }
  if (parallel.group != group_) {
    parallel.group = group_;
    parallel.next = parallel.first;
  }
  problem_.SetArc(parallel.next, arc.capacity, arc.cost, arc.lower);
  const ArcIndex next = next_parallel_[static_cast<size_t>(parallel.next)];
  parallel.next = next == kNone ? parallel.first : next;
}

}  // namespace sluice
