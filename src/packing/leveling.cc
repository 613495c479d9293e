#include "packing/leveling.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "packing/company.h"
#include "packing/pattern_rules.h"

namespace sluice {
namespace {

// Moves of one class from group to group: there may be any number of tasks.
constexpr int kMovesMax = 1000;
// The maximum of patterns times classes looked at.
constexpr size_t kWorkMax = 2000000;
// The minimum gain of a change, as a part of all squares.
constexpr double kGainMin = 0.02;

// A pattern, and what it uses of a machine of its group.
struct Load {
  Pattern pattern;
  std::vector<double> shares;  // By dimension.
  double total = 0;
};

class Leveler {
 public:
  Leveler(const PackingProblem& problem, const std::vector<Pattern>& patterns)
      : problem_(problem), of_group_(problem.groups.size()) {
    for (const Pattern& pattern : patterns) {
      of_group_[pattern.group].push_back(pattern);
    }
    for (size_t g = 0; g < of_group_.size(); ++g) {
      most_.resize(problem.groups[g].free.size(), 1);
      for (size_t d = 0; d < most_.size(); ++d) {
        most_[d] = std::max(most_[d], static_cast<double>(CapacityOf(g, d)));
      }
    }
    for (size_t g = 0; g < of_group_.size(); ++g) {
      int64_t empty = problem.groups[g].machines;
      for (const Pattern& pattern : of_group_[g]) empty -= pattern.machines;
      if (empty > 0) of_group_[g].push_back({g, empty, {}});
      for (const Pattern& pattern : of_group_[g]) AddLoad(pattern);
    }
    squares_before_ = Squares();
    loads_.clear();
  }

  // True if the gain is worth a change.
  bool IsMuchMoreLevel() const {
    return Squares() < (1 - kGainMin) * squares_before_;
  }

  std::vector<Pattern> Run() {
    std::vector<size_t> classes(problem_.classes.size());
    std::iota(classes.begin(), classes.end(), size_t{0});
    std::ranges::stable_sort(classes, std::ranges::greater(),
                             [&](size_t c) { return SizeOf(c); });
    for (size_t g = 0; g < of_group_.size(); ++g) SpreadOver(g, classes);
    if (loads_.size() * classes.size() <= kWorkMax) {
      for (const size_t c : classes) MoveBetweenGroups(c);
    }
    // By group and tasks: on how many machines.
    std::map<std::pair<size_t, std::vector<std::pair<size_t, int64_t>>>,
             int64_t>
        machines;
    for (Load& load : loads_) {
      const Pattern& pattern = load.pattern;
      if (pattern.tasks.empty() || pattern.machines == 0) continue;
      machines[{pattern.group, pattern.tasks}] += pattern.machines;
    }
    std::vector<Pattern> patterns;
    for (const auto& [what, count] : machines) {
      patterns.push_back({what.first, count, what.second});
    }
    return patterns;
  }

 private:
  double Squares() const {
    double squares = 0;
    for (const Load& load : loads_) {
      squares += static_cast<double>(load.pattern.machines) *
                 SquaresWith(load, /*c=*/0, /*count=*/0);
    }
    return squares;
  }

  // The squares of the load with `count` more tasks of the class, weighted by
  // capacity.  So moves from a high load to a low one pay, whatever the sizes
  // of the machines.
  double SquaresWith(const Load& load, size_t c, double count) const {
    const size_t g = load.pattern.group;
    double squares = 0;
    for (size_t d = 0; d < load.shares.size(); ++d) {
      const double share =
          load.shares[d] +
          count * ShareOf(problem_.classes[c].request[d], g, d);
      squares +=
          share * share * static_cast<double>(CapacityOf(g, d)) / most_[d];
    }
    return squares;
  }

  // At least what is free.
  int64_t CapacityOf(size_t g, size_t d) const {
    const PackingGroup& group = problem_.groups[g];
    return group.capacity.empty() ? group.free[d]
                                  : std::max(group.free[d], group.capacity[d]);
  }

  double ShareOf(int64_t amount, size_t g, size_t d) const {
    const int64_t capacity = CapacityOf(g, d);
    return capacity > 0
               ? static_cast<double>(amount) / static_cast<double>(capacity)
               : 0;
  }

  // On the machine where it is largest.
  double SizeOf(size_t c) const {
    double size = 0;
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      for (size_t d = 0; d < problem_.groups[g].free.size(); ++d) {
        size = std::max(size, ShareOf(problem_.classes[c].request[d], g, d));
      }
    }
    return size;
  }

  bool HasRoomFor(size_t c, const Pattern& pattern) const {
    const PackingGroup& group = problem_.groups[pattern.group];
    return problem_.costs[group.kind][c] != kNotAllowed &&
           RoomOn(problem_, pattern, c) > 0;
  }

  // True if the machine has room for all of that together.
  bool Fits(const Pattern& pattern) const {
    const PackingGroup& group = problem_.groups[pattern.group];
    std::vector<int64_t> left = group.free;
    for (const auto& [c, count] : pattern.tasks) {
      const PackingClass& one = problem_.classes[c];
      if (count > problem_.MostOn(c, group.kind) ||
          !HasCompany(problem_, pattern, c) ||
          std::ranges::any_of(pattern.tasks, [&](const auto& tasks) {
            return one.IsApartFrom(tasks.first);
          })) {
        return false;
      }
      for (size_t d = 0; d < left.size(); ++d) {
        if (one.request[d] == 0) continue;
        if (count > left[d] / one.request[d]) return false;
        left[d] -= count * one.request[d];
      }
    }
    return true;
  }

  void AddLoad(Pattern pattern) {
    Load& load = loads_.emplace_back();
    const std::vector<int64_t>& free = problem_.groups[pattern.group].free;
    for (size_t d = 0; d < free.size(); ++d) {
      load.shares.push_back(1 - ShareOf(free[d], pattern.group, d));
      load.total += load.shares[d];
    }
    for (const auto& [c, count] : pattern.tasks) {
      AddShares(c, static_cast<double>(count), pattern.group, &load);
    }
    load.pattern = std::move(pattern);
  }

  void AddShares(size_t c, double count, size_t group, Load* load) const {
    for (size_t d = 0; d < load->shares.size(); ++d) {
      const double share =
          count * ShareOf(problem_.classes[c].request[d], group, d);
      load->shares[d] += share;
      load->total += share;
    }
  }

  // Each machine of the group gets the same number of each class; the
  // remainders go around, the largest first.
  void SpreadOver(size_t g, const std::vector<size_t>& classes) {
    std::vector<Pattern>& former = of_group_[g];
    const int64_t machines = problem_.groups[g].machines;
    if (machines == 1 || IsAnyMovable(former)) {
      for (Pattern& pattern : former) AddLoad(std::move(pattern));
      return;
    }
    std::map<size_t, int64_t> counts;
    for (const Pattern& pattern : former) {
      for (const auto& [c, count] : pattern.tasks) {
        counts[c] += count * pattern.machines;
      }
    }
    Pattern each{g, machines, {}};
    for (const auto& [c, count] : counts) {
      if (count >= machines) each.tasks.emplace_back(c, count / machines);
    }
    // By machine: the classes of which it has one more, or one fewer, from
    // there on.
    std::map<int64_t, std::vector<std::pair<size_t, int64_t>>> changes;
    int64_t next = 0;
    for (const size_t c : classes) {
      const auto it = counts.find(c);
      if (it == counts.end() || it->second % machines == 0) continue;
      changes[next].emplace_back(c, 1);
      next += it->second % machines;
      if (next > machines) {
        next -= machines;
        changes[0].emplace_back(c, 1);
        changes[machines].emplace_back(c, -1);
      }
      changes[next].emplace_back(c, -1);
    }
    changes[machines];
    std::vector<Pattern> spread;
    int64_t begin = 0;
    for (const auto& [end, more] : changes) {
      if (end > begin) {
        spread.push_back(each);
        spread.back().machines = end - begin;
      }
      begin = end;
      for (const auto& [c, count] : more) AddTasks(c, count, &each);
    }
    const bool fits = std::ranges::all_of(
        spread, [&](const Pattern& pattern) { return Fits(pattern); });
    for (Pattern& pattern : fits ? spread : former) {
      AddLoad(std::move(pattern));
    }
  }

  // Of movable tasks, those on their own machines cost less.
  bool IsAnyMovable(const std::vector<Pattern>& patterns) const {
    return std::ranges::any_of(patterns, [this](const Pattern& pattern) {
      return std::ranges::any_of(pattern.tasks, [this](const auto& tasks) {
        return problem_.classes[tasks.first].MayMove();
      });
    });
  }

  void MoveBetweenGroups(size_t c) {
    if (problem_.classes[c].MayMove()) return;
    if (std::ranges::any_of(problem_.caps, [c](const PackingCap& cap) {
          return cap.Counts(c);
        })) {
      return;
    }
    std::map<int64_t, std::vector<size_t>> by_cost;
    for (size_t i = 0; i < loads_.size(); ++i) {
      const Pattern& pattern = loads_[i].pattern;
      const int64_t cost =
          problem_.costs[problem_.groups[pattern.group].kind][c];
      if (cost != kNotAllowed && pattern.machines > 0) {
        by_cost[cost].push_back(i);
      }
    }
    for (const auto& [cost, loads] : by_cost) MoveAmong(loads, c);
  }

  // True if it holds one that may leave.
  bool Holds(size_t c, size_t load) const {
    return CountFreeToLeave(problem_, loads_[load].pattern, c) > 0;
  }

  // Moves from the highest load to the lowest.
  void MoveAmong(const std::vector<size_t>& loads, size_t c) {
    std::set<std::pair<double, size_t>> holders;
    std::set<std::pair<double, size_t>> places;
    const auto enter = [&](size_t i) {
      if (Holds(c, i)) holders.emplace(loads_[i].total, i);
      if (HasRoomFor(c, loads_[i].pattern)) places.emplace(loads_[i].total, i);
    };
    const auto leave = [&](size_t i) {
      holders.erase({loads_[i].total, i});
      places.erase({loads_[i].total, i});
    };
    if (std::ranges::none_of(loads, [&](size_t i) { return Holds(c, i); })) {
      return;
    }
    for (const size_t i : loads) enter(i);
    for (int moves = 0; moves < kMovesMax; ++moves) {
      if (holders.empty() || places.empty()) return;
      const size_t holder = holders.rbegin()->second;
      const size_t place = places.begin()->second;
      if (holder == place || !IsMoreLevel(c, holder, place)) return;
      leave(holder);
      leave(place);
      const int64_t machines = std::min(loads_[holder].pattern.machines,
                                        loads_[place].pattern.machines);
      const size_t from = Split(holder, machines);
      const size_t to = Split(place, machines);
      Change(c, -1, from);
      Change(c, 1, to);
      enter(holder);
      enter(place);
      if (from != holder) enter(from);
      if (to != place) enter(to);
    }
  }

  bool IsMoreLevel(size_t c, size_t from, size_t to) const {
    constexpr double kNoise = 1e-9;
    return SquaresWith(loads_[from], c, -1) + SquaresWith(loads_[to], c, 1) +
               kNoise <
           SquaresWith(loads_[from], c, 0) + SquaresWith(loads_[to], c, 0);
  }

  size_t Split(size_t i, int64_t machines) {
    if (loads_[i].pattern.machines == machines) return i;
    loads_.push_back(loads_[i]);
    loads_.back().pattern.machines = machines;
    loads_[i].pattern.machines -= machines;
    return loads_.size() - 1;
  }

  void Change(size_t c, int64_t count, size_t i) {
    AddTasks(c, count, &loads_[i].pattern);
    AddShares(c, static_cast<double>(count), loads_[i].pattern.group,
              &loads_[i]);
  }

  const PackingProblem& problem_;
  std::vector<std::vector<Pattern>> of_group_;
  std::vector<Load> loads_;
  std::vector<double> most_;  // By dimension: the largest capacity.
  double squares_before_ = 0;
};

}  // namespace

std::vector<Pattern> Level(const PackingProblem& problem,
                           const std::vector<Pattern>& patterns) {
  if (patterns.empty()) return patterns;
  Leveler leveler(problem, patterns);
  std::vector<Pattern> level = leveler.Run();
  return leveler.IsMuchMoreLevel() ? level : patterns;
}

}  // namespace sluice
