#include "oracle/random_packing.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace sluice {
namespace {

class Drawer {
 public:
  Drawer(const PackingShape& shape, Rng* rng) : shape_(shape), rng_(rng) {
    dimensions_ = rng->Between(1, 3);
    unit_ = rng->Chance(1, 3) ? 1'000 : 1;
    free_max_ = rng->Between(4, 24);  // Tight or loose.
    forbidden_ = rng->Below(4);
    limited_ = rng->Below(3);
    steps_max_ = rng->Between(1, 4);
    constexpr std::array<int64_t, 3> kFirst = {1, 1, 1'000};
    constexpr std::array<int64_t, 3> kSpread = {0, 12, 60};
    const uint64_t waiting = rng->Below(kFirst.size());
    waiting_first_ = kFirst[waiting];
    waiting_spread_ = kSpread[waiting];
    cost_max_ = rng->Chance(1, 4) ? 1 : 20;
    kinds_ = rng->Between(1, shape.groups_max);
    if (shape.levels_max > 1) levels_ = rng->Between(1, shape.levels_max);
  }

  PackingProblem Draw() {
    PackingProblem problem;
    const int64_t classes =
        rng_->Between(shape_.classes_min, shape_.classes_max);
    for (int64_t i = 0; i < classes; ++i) problem.classes.push_back(Class());
    for (int64_t i = 0; i < kinds_; ++i) {
      std::vector<int64_t>& row = problem.costs.emplace_back();
      for (int64_t c = 0; c < classes; ++c) {
        row.push_back(rng_->Chance(forbidden_, 10)
                          ? kNotAllowed
                          : rng_->Between(0, cost_max_));
      }
    }
    const int64_t groups = rng_->Between(1, shape_.groups_max);
    for (int64_t i = 0; i < groups; ++i) problem.groups.push_back(Group());
    const int64_t machines =
        rng_->Between(shape_.machines_min, shape_.machines_max);
    for (int64_t i = 0; i < machines; ++i) {
      ++problem.groups[rng_->Below(problem.groups.size())].machines;
    }
    if (shape_.has_staying) AddStaying(&problem);
    if (shape_.keeps_apart) KeepApart(&problem.classes);
    for (int64_t i = rng_->Between(0, shape_.caps_max); i > 0; --i) {
      AddCap(&problem);
    }
    if (shape_.has_spread) AddSpread(&problem);
    if (shape_.needs_company) NeedCompany(&problem);
    if (shape_.gangs_max > 0) AddGangs(&problem);
    for (int64_t i = rng_->Between(0, shape_.budgets_max); i > 0; --i) {
      AddBudget(&problem);
    }
    return problem;
  }

 private:
  // Each class is of one of them, or of none.
  void AddGangs(PackingProblem* problem) {
    std::vector<PackingGang> gangs(static_cast<size_t>(shape_.gangs_max));
    std::vector<int64_t> tasks(gangs.size(), 0);
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      const size_t g = rng_->Below(gangs.size() + 1);
      if (g == gangs.size()) continue;
      gangs[g].classes.push_back(c);
      tasks[g] += problem->classes[c].count();
    }
    for (size_t g = 0; g < gangs.size(); ++g) {
      if (gangs[g].classes.empty()) continue;
      // All of them half of the time; or more than there are.
      gangs[g].minimum =
          rng_->Chance(1, 2) ? tasks[g] : rng_->Between(1, tasks[g] + 1);
      problem->gangs.push_back(gangs[g]);
    }
  }

  // Above all else half of the time.
  void AddBudget(PackingProblem* problem) {
    const size_t index = problem->budgets.size();
    PackingBudget& budget = problem->budgets.emplace_back();
    budget.waiting_max = rng_->Between(0, 4);
    budget.cost = rng_->Between(1, 3);
    if (rng_->Chance(1, 2)) {
      budget.level = static_cast<size_t>(rng_->Between(0, levels_ - 1));
    }
    std::vector<bool> is_of_gang(problem->classes.size(), false);
    for (const PackingGang& gang : problem->gangs) {
      for (const size_t c : gang.classes) is_of_gang[c] = true;
    }
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      if (is_of_gang[c] || rng_->Chance(1, 3)) continue;
      problem->classes[c].budgets.push_back(index);
    }
  }

  void AddCap(PackingProblem* problem) {
    const size_t index = problem->caps.size();
    PackingCap& cap = problem->caps.emplace_back();
    cap.most = rng_->Between(0, 4);
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      if (rng_->Chance(1, 2)) cap.classes.push_back(c);
    }
    if (rng_->Chance(1, 3)) cap.of_running = rng_->Between(2, 4);
    for (PackingGroup& group : problem->groups) {
      if (rng_->Chance(1, 2)) group.caps.push_back(index);
    }
  }

  // Each group lies in one of two or three domains, or in none.
  void AddSpread(PackingProblem* problem) {
    PackingSpread& spread = problem->spreads.emplace_back();
    spread.rise_max = rng_->Between(0, 3);
    std::vector<size_t> classes;
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      if (rng_->Chance(2, 3)) classes.push_back(c);
    }
    const int64_t domains = rng_->Between(2, 3);
    const int64_t skew = rng_->Between(1, 2);
    std::vector<int64_t> there;
    for (int64_t i = 0; i < domains; ++i) there.push_back(rng_->Between(0, 2));
    const int64_t least = *std::ranges::min_element(there);
    for (const int64_t count : there) {
      spread.caps.push_back(problem->caps.size());
      spread.ahead.push_back(count - least);
      problem->caps.push_back({classes,
                               std::max<int64_t>(least + skew - count, 0),
                               spread.rise_max});
    }
    for (PackingGroup& group : problem->groups) {
      const int64_t domain = rng_->Between(0, domains);
      if (domain == domains) continue;
      group.caps.push_back(spread.caps[static_cast<size_t>(domain)]);
    }
  }

  // Their machines have room for them, and they are all there are of their
  // class.
  void AddStaying(PackingProblem* problem) {
    problem->staying.resize(problem->costs.size());
    const uint64_t chance = 1 + rng_->Below(7);  // In ten classes.
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      if (!rng_->Chance(chance, 10)) continue;
      PackingClass& one = problem->classes[c];
      one.runs = true;
      one.per_machine_max = std::numeric_limits<int64_t>::max();
      for (size_t kind = 0; kind < problem->costs.size(); ++kind) {
        const int64_t count = rng_->Between(0, 2);
        if (count == 0 || problem->costs[kind][c] == kNotAllowed) continue;
        problem->staying[kind].emplace_back(c, count);
      }
      int64_t all = 0;
      for (PackingGroup& group : problem->groups) {
        const int64_t count = problem->MostOn(c, group.kind);
        all += group.machines * count;
        for (size_t d = 0; d < group.free.size(); ++d) {
          group.free[d] += one.request[d] * count;
        }
      }
      const size_t level = one.waiting.empty() ? 0 : one.waiting.front().level;
      one.waiting.clear();
      if (all > 0) {
        one.waiting.push_back({all, rng_->Between(1, 3), level});
      }
      if (shape_.may_move && rng_->Chance(1, 2)) {
        one.move_cost = rng_->Between(0, 30);
      }
    }
  }

  void KeepApart(std::vector<PackingClass>* classes) {
    const uint64_t chance = rng_->Below(7);  // In ten pairs.
    for (size_t a = 0; a < classes->size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (!rng_->Chance(chance, 10)) continue;
        (*classes)[a].apart_from.push_back(b);
        (*classes)[b].apart_from.push_back(a);
      }
    }
  }

  // One or two others are company, as far as there are any.  In half of the
  // problems these may need company themselves, of classes before them.
  void NeedCompany(PackingProblem* problem) {
    std::vector<size_t> needy;
    std::vector<size_t> others;
    const uint64_t chance = 1 + rng_->Below(7);  // In ten classes.
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      if (problem->classes[c].MayMove()) continue;
      (rng_->Chance(chance, 10) ? needy : others).push_back(c);
    }
    const bool has_chains = rng_->Chance(1, 2);
    for (const size_t c : needy) {
      PackingClass& one = problem->classes[c];
      one.needs_company = true;
      rng_->Shuffle(others);
      one.company = others;
      one.company.resize(std::min(others.size(), 1 + rng_->Below(2)));
      std::ranges::sort(one.company);
      if (has_chains) others.push_back(c);
    }
    // Kinds on which something stays that is company.
    const uint64_t stays = rng_->Below(4);  // In ten pairs.
    for (size_t kind = 0; kind < problem->costs.size(); ++kind) {
      for (const size_t c : needy) {
        if (!rng_->Chance(stays, 10)) continue;
        problem->company.resize(kind + 1);
        problem->company[kind].push_back(c);
      }
    }
  }

  PackingClass Class() {
    PackingClass one;
    for (int64_t d = 0; d < dimensions_; ++d) {
      one.request.push_back(std::max<int64_t>(rng_->Between(-1, 7), 0) * unit_);
    }
    int64_t left = rng_->Between(0, shape_.tasks_max);
    int64_t cost = waiting_first_;
    int64_t level = shape_.levels_max > 1 ? rng_->Between(0, levels_ - 1) : 0;
    for (int64_t steps = rng_->Between(1, steps_max_); left > 0; --steps) {
      const int64_t count = steps > 1 ? rng_->Between(1, left) : left;
      cost += rng_->Between(0, waiting_spread_);
      one.waiting.push_back({count, cost, static_cast<size_t>(level)});
      left -= count;
      ++cost;
      if (level == 0 || rng_->Chance(1, 2)) continue;
      level = rng_->Between(0, level - 1);
      cost = waiting_first_;
    }
    if (rng_->Chance(limited_, 6)) one.per_machine_max = rng_->Between(0, 3);
    return one;
  }

  PackingGroup Group() {
    PackingGroup group;
    for (int64_t d = 0; d < dimensions_; ++d) {
      // Not always a multiple of what is asked for.
      group.free.push_back(rng_->Between(0, free_max_ * unit_));
    }
    group.kind = rng_->Below(static_cast<uint64_t>(kinds_));
    return group;
  }

  const PackingShape& shape_;
  Rng* rng_;
  int64_t dimensions_;
  int64_t unit_;
  int64_t free_max_;
  uint64_t forbidden_;  // In ten pairs.
  uint64_t limited_;    // In six classes.
  int64_t steps_max_;
  int64_t waiting_first_;
  int64_t waiting_spread_;
  int64_t cost_max_;
  int64_t kinds_;
  int64_t levels_ = 1;
};

}  // namespace

PackingProblem MakeRandomPacking(const PackingShape& shape, Rng* rng) {
  return Drawer(shape, rng).Draw();
}

}  // namespace sluice
