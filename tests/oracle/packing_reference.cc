#include "oracle/packing_reference.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/int128.h"

namespace sluice {
namespace {

int64_t TasksOf(const PackingClass& one) {
  int64_t tasks = 0;
  for (const WaitingStep& step : one.waiting) tasks += step.count;
  return tasks;
}

// By level.
using Costs = std::vector<Int128>;

void AddCostOfWaiting(const PackingClass& one, int64_t waiting, Costs* costs) {
  for (const WaitingStep& step : one.waiting) {
    const int64_t of_step = std::min(step.count, waiting);
    if (step.level >= costs->size()) costs->resize(step.level + 1, 0);
    (*costs)[step.level] += static_cast<Int128>(of_step) * step.cost;
    waiting -= of_step;
  }
}

// `waiting`: of each class.
void AddCostOfExcess(const PackingProblem& problem,
                     const std::vector<int64_t>& waiting, Costs* costs) {
  for (size_t b = 0; b < problem.budgets.size(); ++b) {
    Int128 excess = -problem.budgets[b].waiting_max;
    for (size_t c = 0; c < problem.classes.size(); ++c) {
      for (const size_t counts : problem.classes[c].budgets) {
        if (counts == b) excess += waiting[c];
      }
    }
    const size_t level = problem.budgets[b].level;
    if (level >= costs->size()) costs->resize(level + 1, 0);
    if (excess > 0) (*costs)[level] += excess * problem.budgets[b].cost;
  }
}

std::string TextOf(const PackingCost& cost) {
  std::string text;
  for (size_t level = 0; level < std::max<size_t>(cost.waiting.size(), 1);
       ++level) {
    absl::StrAppend(&text, cost.waiting[level], " ");
  }
  return absl::StrCat(text, "and ", cost.placed);
}

// What a task of the class counts for.
int64_t WeightIn(const PackingProblem& problem, size_t cap, size_t c) {
  for (const size_t one : problem.caps[cap].classes) {
    if (one != c) continue;
    return problem.classes[c].runs ? problem.caps[cap].of_running : 1;
  }
  return 0;
}

// By how much the cap has risen where so many count for each.
template <class Count>
int64_t RiseUnder(const PackingProblem& problem, size_t cap,
                  const std::vector<Count>& counted) {
  for (const PackingSpread& spread : problem.spreads) {
    int64_t rise = spread.rise_max;
    bool is_of_spread = false;
    for (size_t i = 0; i < spread.caps.size(); ++i) {
      is_of_spread = is_of_spread || spread.caps[i] == cap;
      const auto there =
          static_cast<int64_t>(counted[spread.caps[i]]) + spread.ahead[i];
      rise = std::min(rise, there);
    }
    if (is_of_spread) return rise;
  }
  return 0;
}

// Whether a class has company on a machine of the kind on which stands what
// `stands` says of each class.
template <class Stands>
bool HasCompany(const PackingProblem& problem, size_t kind, size_t c,
                const Stands& stands) {
  if (!problem.classes[c].needs_company) return true;
  if (kind < problem.company.size()) {
    for (const size_t one : problem.company[kind]) {
      if (one == c) return true;
    }
  }
  for (const size_t other : problem.classes[c].company) {
    if (stands(other)) return true;
  }
  return false;
}

int64_t CountRunning(const PackingProblem& problem, size_t kind, size_t c) {
  if (kind >= problem.staying.size()) return 0;
  for (const auto& [of, count] : problem.staying[kind]) {
    if (of == c) return count;
  }
  return 0;
}

bool CanMove(const PackingClass& one) { return one.move_cost != kNotAllowed; }

// How many of the class a machine of the kind may hold, whatever else it does.
int64_t MostOf(const PackingProblem& problem, size_t kind, size_t c) {
  const int64_t most = problem.classes[c].per_machine_max;
  if (!problem.classes[c].runs || CanMove(problem.classes[c])) return most;
  return std::min(most, CountRunning(problem, kind, c));
}

// What stands on one machine.
absl::Status CheckFits(const PackingProblem& problem, const Pattern& pattern) {
  const PackingGroup& group = problem.groups[pattern.group];
  std::vector<Int128> used(group.free.size(), 0);
  std::optional<size_t> last;
  for (const auto& [c, count] : pattern.tasks) {
    if (c >= problem.classes.size() || (last.has_value() && c <= *last)) {
      return absl::InvalidArgumentError(
          absl::StrCat("class ", c, " is not there, or out of order"));
    }
    last = c;
    const PackingClass& one = problem.classes[c];
    if (count <= 0 || count > MostOf(problem, group.kind, c)) {
      return absl::InvalidArgumentError(
          absl::StrCat(count, " tasks of class ", c, " on a machine"));
    }
    if (problem.costs[group.kind][c] == kNotAllowed) {
      return absl::InvalidArgumentError(absl::StrCat(
          "class ", c, " is not allowed in group ", pattern.group));
    }
    for (const size_t other : one.apart_from) {
      for (const auto& [beside, beside_count] : pattern.tasks) {
        if (beside != other) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("classes ", c, " and ", other, " share a machine"));
      }
    }
    for (size_t d = 0; d < used.size(); ++d) {
      used[d] += static_cast<Int128>(one.request[d]) * count;
    }
  }
  const auto stands = [&pattern](size_t c) {
    for (const auto& [there, count] : pattern.tasks) {
      if (there == c) return true;
    }
    return false;
  };
  for (const auto& [c, count] : pattern.tasks) {
    if (HasCompany(problem, group.kind, c, stands)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "class ", c, " lacks its company in group ", pattern.group));
  }
  for (size_t d = 0; d < used.size(); ++d) {
    if (used[d] <= group.free[d]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("too much of dimension ", d, " in group ", pattern.group));
  }
  return absl::OkStatus();
}

// What one machine may hold, as a difference of states, and what it costs.
struct Content {
  std::vector<int64_t> counts;  // By class, then cap.
  size_t tasks = 0;             // As part of the number of a state.
  int64_t cost = 0;
};

// All placements, machine by machine.  A state is how many tasks of each class
// are placed, and how many count for each cap, as a number with one digit for
// each of them.
class AllPlacements {
 public:
  explicit AllPlacements(const PackingProblem& problem) : problem_(problem) {
    size_t states = 1;
    for (const PackingClass& one : problem.classes) {
      weights_.push_back(states);
      tasks_.push_back(TasksOf(one));
      states *= static_cast<size_t>(tasks_.back() + 1);
    }
    for (const PackingCap& cap : problem.caps) {
      weights_.push_back(states);
      tasks_.push_back(cap.most + cap.rise_max);
      states *= static_cast<size_t>(tasks_.back() + 1);
    }
    least_.resize(states);
    least_[0] = 0;
    for (const PackingGroup& group : problem.groups) {
      contents_.clear();
      AddContents(group, group.free, 0, {.counts = {}});
      for (int64_t i = 0; i < group.machines; ++i) AddMachine();
    }
  }

  // By state, the least cost; none where no placement comes to it.
  const std::vector<std::optional<int64_t>>& least() const { return least_; }
  // Whether caps have risen far enough for what counts for them.
  bool IsWithinCaps(size_t state) const {
    std::vector<int64_t> counted;
    for (size_t cap = 0; cap < problem_.caps.size(); ++cap) {
      counted.push_back(Digit(state, problem_.classes.size() + cap));
    }
    for (size_t cap = 0; cap < counted.size(); ++cap) {
      const int64_t most =
          problem_.caps[cap].most + RiseUnder(problem_, cap, counted);
      if (counted[cap] > most) return false;
    }
    return true;
  }
  bool HasWholeGangs(size_t state) const {
    for (const PackingGang& gang : problem_.gangs) {
      int64_t placed = 0;
      for (const size_t c : gang.classes) placed += Digit(state, c);
      if (placed > 0 && placed < gang.minimum) return false;
    }
    return true;
  }
  int64_t Digit(size_t state, size_t c) const {
    return static_cast<int64_t>(state / weights_[c]) % (tasks_[c] + 1);
  }

 private:
  void AddContents(const PackingGroup& group, std::vector<int64_t> free,
                   size_t c, Content content) {
    if (c == problem_.classes.size()) {
      AddContent(group, std::move(content));
      return;
    }
    const PackingClass& one = problem_.classes[c];
    const int64_t cost = problem_.costs[group.kind][c];
    const int64_t most = MostOf(problem_, group.kind, c);
    content.counts.push_back(0);
    while (true) {
      AddContents(group, free, c + 1, content);
      const int64_t count = ++content.counts[c];
      if (cost == kNotAllowed || count > most || count > tasks_[c] ||
          IsKeptAway(c, content)) {
        return;
      }
      content.tasks += weights_[c];
      content.cost += cost;
      if (one.runs && CanMove(one) &&
          count > CountRunning(problem_, group.kind, c)) {
        content.cost += one.move_cost;
      }
      for (size_t d = 0; d < free.size(); ++d) {
        free[d] -= one.request[d];
        if (free[d] < 0) return;
      }
    }
  }

  // With what counts for the caps; none where a class lacks its company.
  void AddContent(const PackingGroup& group, Content content) {
    const auto stands = [&content](size_t c) { return content.counts[c] > 0; };
    for (size_t c = 0; c < problem_.classes.size(); ++c) {
      if (stands(c) && !HasCompany(problem_, group.kind, c, stands)) return;
    }
    for (size_t cap = 0; cap < problem_.caps.size(); ++cap) {
      content.counts.push_back(0);
      int64_t& counted = content.counts.back();
      for (const size_t one : group.caps) {
        for (size_t c = 0; one == cap && c < problem_.classes.size(); ++c) {
          counted += WeightIn(problem_, cap, c) * content.counts[c];
        }
      }
      if (counted > tasks_[problem_.classes.size() + cap]) return;
      content.tasks += static_cast<size_t>(counted) *
                       weights_[problem_.classes.size() + cap];
    }
    contents_.push_back(std::move(content));
  }

  bool IsKeptAway(size_t c, const Content& content) const {
    for (size_t other = 0; other < c; ++other) {
      if (content.counts[other] == 0) continue;
      for (const size_t from : problem_.classes[c].apart_from) {
        if (from == other) return true;
      }
    }
    return false;
  }

  void AddMachine() {
    std::vector<std::optional<int64_t>> after(least_.size());
    for (size_t state = 0; state < least_.size(); ++state) {
      if (!least_[state].has_value()) continue;
      for (const Content& content : contents_) {
        if (!HasLeft(state, content)) continue;
        std::optional<int64_t>& least = after[state + content.tasks];
        const int64_t cost = *least_[state] + content.cost;
        if (!least.has_value() || cost < *least) least = cost;
      }
    }
    least_ = std::move(after);
  }

  bool HasLeft(size_t state, const Content& content) const {
    for (size_t c = 0; c < tasks_.size(); ++c) {
      if (Digit(state, c) + content.counts[c] > tasks_[c]) return false;
    }
    return true;
  }

  const PackingProblem& problem_;
  std::vector<size_t> weights_;  // By class, then cap, of its digit.
  std::vector<int64_t> tasks_;   // The same: what they may come to.
  std::vector<Content> contents_;
  std::vector<std::optional<int64_t>> least_;
};

}  // namespace

absl::Status CheckPacking(const PackingProblem& problem,
                          const PackingSolution& solution) {
  std::vector<Int128> machines;
  for (const PackingGroup& group : problem.groups) {
    machines.push_back(group.machines);
  }
  std::vector<Int128> left;
  for (const PackingClass& one : problem.classes) left.push_back(TasksOf(one));
  Int128 placed = 0;
  std::vector<Int128> counted(problem.caps.size(), 0);
  for (const Pattern& pattern : solution.patterns) {
    if (pattern.group >= problem.groups.size() || pattern.machines <= 0 ||
        (machines[pattern.group] -= pattern.machines) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(pattern.machines, " machines of group ", pattern.group));
    }
    const absl::Status fits = CheckFits(problem, pattern);
    if (!fits.ok()) return fits;
    for (const size_t cap : problem.groups[pattern.group].caps) {
      for (const auto& [c, count] : pattern.tasks) {
        counted[cap] += static_cast<Int128>(count) * pattern.machines *
                        WeightIn(problem, cap, c);
      }
    }
    for (const auto& [c, count] : pattern.tasks) {
      const Int128 tasks = static_cast<Int128>(count) * pattern.machines;
      left[c] -= tasks;
      if (left[c] < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("class ", c, " has fewer tasks"));
      }
      const size_t kind = problem.groups[pattern.group].kind;
      placed += tasks * problem.costs[kind][c];
      const int64_t moved = count - CountRunning(problem, kind, c);
      if (problem.classes[c].runs && CanMove(problem.classes[c]) && moved > 0) {
        placed += static_cast<Int128>(moved) * pattern.machines *
                  problem.classes[c].move_cost;
      }
    }
  }
  for (size_t cap = 0; cap < counted.size(); ++cap) {
    const Int128 rise = RiseUnder(problem, cap, counted);
    if (counted[cap] <= problem.caps[cap].most + rise) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "more than ", problem.caps[cap].most, " count for cap ", cap));
  }
  for (const PackingGang& gang : problem.gangs) {
    Int128 placed_of_gang = 0;
    for (const size_t c : gang.classes) {
      placed_of_gang += TasksOf(problem.classes[c]) - left[c];
    }
    if (placed_of_gang == 0 || placed_of_gang >= gang.minimum) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("fewer than ", gang.minimum, " are placed of the gang of ",
                     "class ", gang.classes[0]));
  }
  Costs waiting;
  std::vector<int64_t> counts;
  for (size_t c = 0; c < left.size(); ++c) {
    counts.push_back(static_cast<int64_t>(left[c]));
    AddCostOfWaiting(problem.classes[c], counts.back(), &waiting);
  }
  AddCostOfExcess(problem, counts, &waiting);
  const auto& [stated, bound] = std::pair(solution.cost, solution.bound);
  bool is_true = stated.placed == placed;
  for (size_t level = 0; level < waiting.size(); ++level) {
    is_true = is_true && stated.waiting[level] == waiting[level];
  }
  if (!is_true || stated.waiting.size() > waiting.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("does not cost ", TextOf(stated)));
  }
  for (size_t level = 0; level < bound.waiting.size(); ++level) {
    is_true = is_true && bound.waiting[level] >= 0 &&
              bound.waiting[level] <= stated.waiting[level];
  }
  if (!is_true || bound.placed > stated.placed || bound.placed < 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "costs ", TextOf(stated), ", and not at least ", TextOf(bound)));
  }
  return absl::OkStatus();
}

std::map<LevelCosts, int64_t> LeastPlacedCosts(const PackingProblem& problem) {
  const AllPlacements all(problem);
  std::map<LevelCosts, int64_t> least;
  for (size_t state = 0; state < all.least().size(); ++state) {
    if (!all.least()[state].has_value() || !all.IsWithinCaps(state) ||
        !all.HasWholeGangs(state)) {
      continue;
    }
    Costs costs;
    std::vector<int64_t> counts;
    for (size_t c = 0; c < problem.classes.size(); ++c) {
      const PackingClass& one = problem.classes[c];
      counts.push_back(TasksOf(one) - all.Digit(state, c));
      AddCostOfWaiting(one, counts.back(), &costs);
    }
    AddCostOfExcess(problem, counts, &costs);
    LevelCosts waiting;
    for (size_t level = 0; level < costs.size(); ++level) {
      waiting.Add(level, static_cast<int64_t>(costs[level]));
    }
    const int64_t placed = *all.least()[state];
    const auto [it, is_new] = least.try_emplace(waiting, placed);
    it->second = std::min(it->second, placed);
  }
  return least;
}

std::string DescribePacking(const PackingProblem& problem) {
  std::ostringstream text;
  const auto list = [&text](std::string_view name, const auto& values) {
    text << " " << name;
    for (const int64_t value : values) {
      if (value == std::numeric_limits<int64_t>::max()) {
        text << " -";
      } else {
        text << " " << value;
      }
    }
  };
  for (const PackingClass& one : problem.classes) {
    text << "class";
    list("request", one.request);
    text << " waiting";
    for (const auto& [count, cost, level] : one.waiting) {
      text << " " << count << "x" << cost << " of level " << level;
    }
    list("per machine", std::vector<int64_t>{one.per_machine_max});
    list("apart from",
         std::vector<int64_t>(one.apart_from.begin(), one.apart_from.end()));
    if (one.needs_company) {
      list("needs company of",
           std::vector<int64_t>(one.company.begin(), one.company.end()));
    }
    list("budgets",
         std::vector<int64_t>(one.budgets.begin(), one.budgets.end()));
    if (one.runs) text << " runs";
    if (CanMove(one)) text << " and moves for " << one.move_cost;
    text << "\n";
  }
  for (const PackingGroup& group : problem.groups) {
    text << "group of " << group.machines << " kind " << group.kind;
    list("free", group.free);
    list("caps", std::vector<int64_t>(group.caps.begin(), group.caps.end()));
    text << "\n";
  }
  for (const PackingCap& cap : problem.caps) {
    text << "cap of " << cap.most << " and " << cap.rise_max;
    list("classes",
         std::vector<int64_t>(cap.classes.begin(), cap.classes.end()));
    text << "\n";
  }
  for (const PackingSpread& spread : problem.spreads) {
    text << "spread rises by " << spread.rise_max;
    list("caps", std::vector<int64_t>(spread.caps.begin(), spread.caps.end()));
    list("ahead", spread.ahead);
    text << "\n";
  }
  for (const PackingBudget& budget : problem.budgets) {
    text << "budget of " << budget.waiting_max << ", each more " << budget.cost
         << " of level " << budget.level << "\n";
  }
  for (const PackingGang& gang : problem.gangs) {
    text << "gang of at least " << gang.minimum;
    list("classes",
         std::vector<int64_t>(gang.classes.begin(), gang.classes.end()));
    text << "\n";
  }
  for (size_t kind = 0; kind < problem.costs.size(); ++kind) {
    text << "kind";
    list("costs", problem.costs[kind]);
    if (kind < problem.company.size()) {
      const std::vector<size_t>& company = problem.company[kind];
      list("has company for",
           std::vector<int64_t>(company.begin(), company.end()));
    }
    if (kind < problem.staying.size()) {
      for (const auto& [c, count] : problem.staying[kind]) {
        text << " " << count << " of class " << c << " run";
      }
    }
    text << "\n";
  }
  return text.str();
}

}  // namespace sluice
