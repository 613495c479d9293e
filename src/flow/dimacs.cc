#include "flow/dimacs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "flow/dimacs_line.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 40;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  absl::StatusOr<FlowProblem> Read() &&;

 private:
  absl::Status ReadLine(DimacsLine& line);
  absl::Status ReadCounts(DimacsLine& line);
  absl::Status ReadSupply(DimacsLine& line);
  absl::Status ReadArc(DimacsLine& line);
  absl::Status ReadExtension(DimacsLine& line);
  absl::Status ReadSegments(DimacsLine& line);
  absl::Status ReadGain(DimacsLine& line);

  absl::Status CheckNode(const DimacsLine& line, int64_t number) const;

  const std::string_view text_;
  FlowProblem problem_;
  bool has_counts_ = false;
  int64_t arc_count_ = 0;              // As declared.
  std::vector<bool> has_supply_;       // By node.
  std::vector<CostSegment> segments_;  // Of one arc, to reuse the memory.
  // Of the newest arc, which of the extensions it has had.
  bool has_segments_ = false;
  bool has_gain_ = false;
};

absl::StatusOr<FlowProblem> Reader::Read() && {
  RETURN_IF_ERROR(ForEachDimacsLine(
      text_, [this](DimacsLine& line) { return ReadLine(line); }));
  if (!has_counts_) {
    return absl::InvalidArgumentError("there is no 'p' line");
  }
  if (problem_.arc_count() != arc_count_) {
    return absl::InvalidArgumentError(StrCat("'p' declares ", arc_count_,
                                             " arcs, and there are ",
                                             problem_.arc_count()));
  }
  return std::move(problem_);
}

absl::Status Reader::ReadLine(DimacsLine& line) {
  const std::string_view kind = line.Word();
  if (kind == "a") return ReadArc(line);
  if (kind.empty()) return absl::OkStatus();
  if (kind == "c" && line.Take("sluice")) return ReadExtension(line);
  if (kind.front() == 'c') return absl::OkStatus();
  if (kind == "n") return ReadSupply(line);
  if (kind == "p") return ReadCounts(line);
  return line.Error(StrCat("'", Printable(kind, kShownBytes),
                           "' begins no line of this format"));
}

absl::Status Reader::ReadCounts(DimacsLine& line) {
  if (has_counts_) return line.Error("a second 'p' line");
  if (const std::string_view kind = line.Word(); kind != "min") {
    return line.Error(
        StrCat("problem '", Printable(kind, kShownBytes), "' is not 'min'"));
  }
  const int64_t node_count = line.Integer("node count");
  arc_count_ = line.Integer("arc count");
  RETURN_IF_ERROR(line.End());
  if (node_count < 0 || arc_count_ < 0) {
    return line.Error(
        StrCat("count ", std::min(node_count, arc_count_), " is negative"));
  }
  const auto node_count_max = static_cast<int64_t>(
      std::min(size_t{kDimacsNodeCountMax}, kDimacsFreeNodes + text_.size()));
  if (node_count > node_count_max) {
    return absl::OutOfRangeError(StrCat(
        "line ", line.number(), ": ", node_count, " nodes are beyond ",
        node_count_max, ", the limit for a text of ", text_.size(), " bytes"));
  }
  has_counts_ = true;
  has_supply_.resize(static_cast<size_t>(node_count));
  for (int64_t i = 0; i < node_count; ++i) problem_.AddNode(0);
  return absl::OkStatus();
}

absl::Status Reader::CheckNode(const DimacsLine& line, int64_t number) const {
  if (number >= 1 && number <= problem_.node_count()) return absl::OkStatus();
  if (!has_counts_) return line.Error("there is no 'p' line before this one");
  if (number < 1) {
    return line.Error(StrCat("node ", number, ": nodes are counted from 1"));
  }
  return line.Error(StrCat("node ", number, " is beyond the ",
                           problem_.node_count(), " that 'p' declares"));
}

absl::Status Reader::ReadSupply(DimacsLine& line) {
  const int64_t number = line.Integer("node");
  const FlowUnits supply = line.Integer("supply");
  RETURN_IF_ERROR(line.End());
  RETURN_IF_ERROR(CheckNode(line, number));
  const auto node = static_cast<NodeIndex>(number - 1);
  if (has_supply_[static_cast<size_t>(node)]) {
    return line.Error(StrCat("a second supply of node ", number));
  }
  has_supply_[static_cast<size_t>(node)] = true;
  problem_.SetSupply(node, supply);
  return absl::OkStatus();
}

absl::Status Reader::ReadArc(DimacsLine& line) {
  ASSIGN_OR_RETURN(const DimacsArc arc, line.Arc());
  RETURN_IF_ERROR(CheckNode(line, arc.tail));
  RETURN_IF_ERROR(CheckNode(line, arc.head));
  if (problem_.arc_count() == arc_count_) {
    return line.Error(
        StrCat("an arc beyond the ", arc_count_, " that 'p' declares"));
  }
  problem_.AddArc(static_cast<NodeIndex>(arc.tail - 1),
                  static_cast<NodeIndex>(arc.head - 1), arc.capacity, arc.cost,
                  arc.lower);
  has_segments_ = false;
  has_gain_ = false;
  return absl::OkStatus();
}

absl::Status Reader::ReadExtension(DimacsLine& line) {
  const std::string_view kind = line.Word();
  if (problem_.arc_count() == 0) {
    return line.Error("'c sluice' is about the arc before it: there is none");
  }
  if (kind == "convex") return ReadSegments(line);
  if (kind == "gain") return ReadGain(line);
  if (kind != "all-or-none") {
    return line.Error(StrCat("'", Printable(kind, kShownBytes),
                             "' is not convex, gain or all-or-none"));
  }
  RETURN_IF_ERROR(line.End());
  const ArcIndex arc = problem_.arc_count() - 1;
  if (problem_.is_all_or_none(arc)) {
    return line.Error("a second 'all-or-none' of one arc");
  }
  problem_.SetAllOrNone(arc, true);
  return absl::OkStatus();
}

absl::Status Reader::ReadSegments(DimacsLine& line) {
  const ArcIndex arc = problem_.arc_count() - 1;
  if (has_segments_) return line.Error("a second 'convex' of one arc");
  has_segments_ = true;
  segments_.clear();
  FlowUnits left = problem_.arc(arc).capacity();
  do {
    const FlowUnits width = line.Integer("width");
    const FlowCost cost = line.Integer("cost");
    RETURN_IF_ERROR(line.error());
    if (width < 1) {
      return line.Error(StrCat("width ", width, " is not positive"));
    }
    if (width > left) {
      return line.Error(StrCat("the widths add up to more than the arc's ",
                               problem_.arc(arc).capacity()));
    }
    left -= width;
    segments_.push_back({.width = width, .cost = cost});
  } while (!line.AtEnd());
  RETURN_IF_ERROR(line.End());
  if (left > 0) {
    return line.Error(StrCat("the widths add up to less than the arc's ",
                             problem_.arc(arc).capacity()));
  }
  if (segments_.front().cost != problem_.arc(arc).whole.cost) {
    return line.Error(StrCat("the first cost, ", segments_.front().cost,
                             ", is not the arc's, ",
                             problem_.arc(arc).whole.cost));
  }
  const auto falling =
      std::ranges::adjacent_find(segments_, std::greater(), &CostSegment::cost);
  if (falling != segments_.end()) {
    return line.Error(StrCat("cost ", (falling + 1)->cost,
                             " is below the one before it, ", falling->cost));
  }
  problem_.SetConvexArc(arc, segments_, problem_.arc(arc).lower);
  return absl::OkStatus();
}

absl::Status Reader::ReadGain(DimacsLine& line) {
  const int64_t numerator = line.Integer("numerator");
  const int64_t denominator = line.Integer("denominator");
  RETURN_IF_ERROR(line.End());
  if (has_gain_) return line.Error("a second 'gain' of one arc");
  has_gain_ = true;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (std::min(numerator, denominator) < 1 ||
      std::max(numerator, denominator) > kMost) {
    return line.Error(StrCat("gain ", numerator, "/", denominator,
                             " is not of two numbers from 1 to ", kMost));
  }
  problem_.SetGain(problem_.arc_count() - 1,
                   {.numerator = static_cast<int32_t>(numerator),
                    .denominator = static_cast<int32_t>(denominator)});
  return absl::OkStatus();
}

void AddNumber(int64_t number, std::string* text) {
  std::array<char, 24> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  text->push_back(' ');
  text->append(buffer.data(), result.ptr);
}

// Writes a line: `kind`, then the numbers.
template <std::same_as<int64_t>... Numbers>
void AddLine(std::string_view kind, std::string* text, Numbers... numbers) {
  text->append(kind);
  for (const int64_t number : std::initializer_list<int64_t>{numbers...}) {
    AddNumber(number, text);
  }
  text->push_back('\n');
}

void AddArcLines(const FlowProblem& problem, ArcIndex index,
                 std::string* text) {
  const FlowProblem::Arc& arc = problem.arc(index);
  const std::span<const CostSegment> segments = problem.segments(index);
  AddLine("a", text, int64_t{arc.tail} + 1, int64_t{arc.head} + 1, arc.lower,
          arc.capacity(), segments.front().cost);
  if (!arc.is_plain()) {
    text->append("c sluice convex");
    for (const CostSegment& segment : segments) {
      AddNumber(segment.width, text);
      AddNumber(segment.cost, text);
    }
    text->push_back('\n');
  }
  if (const FlowGain gain = problem.gain(index); gain != FlowGain()) {
    AddLine("c sluice gain", text, int64_t{gain.numerator},
            int64_t{gain.denominator});
  }
  if (problem.is_all_or_none(index)) AddLine("c sluice all-or-none", text);
}

}  // namespace

absl::StatusOr<FlowProblem> ReadDimacs(std::string_view text) {
  return Reader(text).Read();
}

std::string WriteDimacs(const FlowProblem& problem) {
  int64_t arc_count = 0;
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    if (!problem.arc(i).is_removed()) ++arc_count;
  }
  std::string text;
  AddLine("p min", &text, int64_t{problem.node_count()}, arc_count);
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    const FlowUnits supply = problem.supply(node);
    if (supply != 0) AddLine("n", &text, int64_t{node} + 1, supply);
  }
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    if (!problem.arc(i).is_removed()) AddArcLines(problem, i, &text);
  }
  return text;
}

absl::StatusOr<std::string> WritePlainDimacs(const FlowProblem& problem) {
  FlowProblem plain;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    plain.AddNode(problem.supply(node));
  }
  int64_t line = 0;
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem.arc(i);
    if (arc.is_removed()) continue;
    ++line;
    if (problem.gains().contains(i) || problem.is_all_or_none(i)) {
      return absl::FailedPreconditionError(
          StrCat("arc ", line,
                 " has a gain or is all or none, which plain DIMACS "
                 "lacks"));
    }
    FlowUnits lower = arc.lower;
    for (const auto& [width, cost] : problem.segments(i)) {
      const FlowUnits lower_here = std::min(lower, width);
      lower -= lower_here;
      plain.AddArc(arc.tail, arc.head, width, cost, lower_here);
    }
  }
  return WriteDimacs(plain);
}

}  // namespace sluice
