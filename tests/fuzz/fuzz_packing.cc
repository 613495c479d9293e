// Arbitrary bytes as a packing problem: however little work is allowed, the
// packing keeps the rules and costs what it says, what is proved holds for
// packings found with more work, and what is known already is not given up.
//
// A failure shows the problem.
//
// Input: features, then classes, rows of costs, groups, and work.  Every input
// is a problem.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/packing_reference.h"
#include "packing/pack.h"

namespace sluice {
namespace {

constexpr int64_t kClassesMax = 5;
constexpr int64_t kLevelsMax = 3;
constexpr int64_t kGroupsMax = 5;
constexpr int64_t kPlenty = 1'000'000;
// What numbers are multiplied with, so that sums near the ends of their range
// occur, too.  Costs of all tasks together stay within it.
constexpr int64_t kUnits[] = {
    1, 1, 7, 1'000, int64_t{1} << 30, int64_t{1} << 54};
constexpr int64_t kMany[] = {1, 1, 1, 100, 1'000'000, int64_t{1} << 36};

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> left) : left_(left) {}

  // A number in [lo, hi]; lo where nothing is left.
  int64_t Between(int64_t lo, int64_t hi) {
    if (left_.empty()) return lo;
    const uint8_t byte = left_.front();
    left_ = left_.subspan(1);
    return lo + byte % (hi - lo + 1);
  }

  int64_t Unit() { return kUnits[Between(0, std::ssize(kUnits) - 1)]; }
  int64_t Many() { return kMany[Between(0, std::ssize(kMany) - 1)]; }

 private:
  std::span<const uint8_t> left_;
};

PackingClass DrawClass(size_t dimensions, int64_t unit, int64_t many,
                       Bytes* bytes) {
  PackingClass one;
  for (size_t d = 0; d < dimensions; ++d) {
    one.request.push_back(bytes->Between(0, 12) * unit);
  }
  int64_t cost = bytes->Between(1, 200);
  int64_t level = bytes->Between(0, kLevelsMax - 1);
  for (int64_t steps = bytes->Between(0, 5); steps > 0; --steps) {
    one.waiting.push_back(
        {bytes->Between(1, 8) * many, cost, static_cast<size_t>(level)});
    cost += bytes->Between(0, 40);
    if (level > 0 && bytes->Between(0, 2) == 0) --level;
  }
  const int64_t limit = bytes->Between(0, 12);
  if (limit < 4) one.per_machine_max = limit;
  return one;
}

// Over two or three domains.
void DrawSpread(int64_t many, Bytes* bytes, PackingProblem* problem) {
  PackingSpread& spread = problem->spreads.emplace_back();
  spread.rise_max = bytes->Between(0, 9) * many;
  std::vector<size_t> classes;
  for (size_t c = 0; c < problem->classes.size(); ++c) {
    if (bytes->Between(0, 1) == 1) classes.push_back(c);
  }
  const int64_t domains = bytes->Between(2, 3);
  for (int64_t i = 0; i < domains; ++i) {
    spread.caps.push_back(problem->caps.size());
    spread.ahead.push_back(bytes->Between(0, 3));
    problem->caps.push_back({classes, bytes->Between(0, 3), spread.rise_max});
  }
  for (PackingGroup& group : problem->groups) {
    const int64_t domain = bytes->Between(0, domains);
    if (domain == domains) continue;
    group.caps.push_back(spread.caps[static_cast<size_t>(domain)]);
  }
}

// Which classes need company, of which others, and on which kinds they have it
// by what stays.  Those that are company need none, or come first.
void DrawCompany(Bytes* bytes, PackingProblem* problem) {
  std::vector<size_t> needy;
  for (size_t c = 0; c < problem->classes.size(); ++c) {
    if (problem->classes[c].MayMove()) continue;
    if (bytes->Between(0, 3) == 3) needy.push_back(c);
  }
  for (const size_t c : needy) problem->classes[c].needs_company = true;
  for (const size_t c : needy) {
    for (size_t other = 0; other < problem->classes.size(); ++other) {
      if (problem->classes[other].needs_company && other >= c) continue;
      if (problem->classes[other].MayMove()) continue;
      if (bytes->Between(0, 1) == 0) continue;
      problem->classes[c].company.push_back(other);
    }
  }
  for (size_t kind = 0; kind < problem->costs.size(); ++kind) {
    for (const size_t c : needy) {
      if (bytes->Between(0, 3) < 3) continue;
      problem->company.resize(kind + 1);
      problem->company[kind].push_back(c);
    }
  }
}

// What its machines have free may be too little for what stays there.
void DrawStaying(Bytes* bytes, PackingProblem* problem) {
  problem->staying.resize(problem->costs.size());
  for (size_t c = 0; c < problem->classes.size(); ++c) {
    if (bytes->Between(0, 3) < 3) continue;
    problem->classes[c].runs = true;
    if (bytes->Between(0, 1) == 1) {
      problem->classes[c].move_cost = bytes->Between(0, 50);
    }
    for (auto& of_kind : problem->staying) {
      const int64_t count = bytes->Between(0, 5);
      if (count > 0) of_kind.emplace_back(c, count);
    }
  }
}

// Each class is of one of two gangs, or of none.
void DrawGangs(int64_t many, Bytes* bytes, PackingProblem* problem) {
  std::vector<PackingGang> gangs(2);
  for (size_t c = 0; c < problem->classes.size(); ++c) {
    const int64_t g = bytes->Between(0, 4) - 1;
    if (g == 0 || g == 1) gangs[static_cast<size_t>(g)].classes.push_back(c);
  }
  for (PackingGang& gang : gangs) {
    gang.minimum = bytes->Between(0, 20) * many;
    if (!gang.classes.empty()) problem->gangs.push_back(gang);
  }
}

// Of classes that are of no gang.
void DrawBudgets(int64_t many, Bytes* bytes, PackingProblem* problem) {
  for (int64_t i = bytes->Between(0, 2); i > 0; --i) {
    const size_t index = problem->budgets.size();
    problem->budgets.push_back(
        {.waiting_max = bytes->Between(0, 9) * many,
         .cost = bytes->Between(1, 9),
         .level = static_cast<size_t>(bytes->Between(0, kLevelsMax - 1))});
    for (size_t c = 0; c < problem->classes.size(); ++c) {
      const bool is_of_gang =
          std::ranges::any_of(problem->gangs, [c](const PackingGang& gang) {
            return std::ranges::count(gang.classes, c) > 0;
          });
      if (is_of_gang || bytes->Between(0, 1) == 0) continue;
      problem->classes[c].budgets.push_back(index);
    }
  }
}

PackingProblem DrawProblem(Bytes* bytes) {
  PackingProblem problem;
  const auto dimensions = static_cast<size_t>(bytes->Between(1, 3));
  const int64_t unit = bytes->Unit();
  const int64_t many = bytes->Many();
  for (int64_t i = bytes->Between(0, kClassesMax); i > 0; --i) {
    problem.classes.push_back(DrawClass(dimensions, unit, many, bytes));
  }
  for (int64_t i = bytes->Between(1, 3); i > 0; --i) {
    std::vector<int64_t>& row = problem.costs.emplace_back();
    for (size_t c = 0; c < problem.classes.size(); ++c) {
      const int64_t cost = bytes->Between(0, 99);
      row.push_back(cost >= 80 ? kNotAllowed : cost);
    }
  }
  for (int64_t i = bytes->Between(0, kGroupsMax); i > 0; --i) {
    PackingGroup& group = problem.groups.emplace_back();
    for (size_t d = 0; d < dimensions; ++d) {
      group.free.push_back(bytes->Between(0, 100) * unit +
                           bytes->Between(0, 1));
    }
    group.machines = bytes->Between(0, 6) * many;
    group.kind =
        static_cast<size_t>(bytes->Between(0, std::ssize(problem.costs) - 1));
  }
  for (int64_t i = bytes->Between(0, 3); i > 0; --i) {
    PackingCap& cap = problem.caps.emplace_back();
    cap.most = bytes->Between(0, 9) * many;
    for (size_t c = 0; c < problem.classes.size(); ++c) {
      if (bytes->Between(0, 1) == 1) cap.classes.push_back(c);
    }
    for (PackingGroup& group : problem.groups) {
      if (bytes->Between(0, 1) == 0) continue;
      group.caps.push_back(problem.caps.size() - 1);
    }
  }
  if (bytes->Between(0, 1) == 1) DrawSpread(many, bytes, &problem);
  for (size_t a = 0; a < problem.classes.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (bytes->Between(0, 3) < 3) continue;
      problem.classes[a].apart_from.push_back(b);
      problem.classes[b].apart_from.push_back(a);
    }
  }
  DrawStaying(bytes, &problem);
  DrawCompany(bytes, &problem);
  DrawGangs(many, bytes, &problem);
  DrawBudgets(many, bytes, &problem);
  return problem;
}

PackingSolution PackAndCheck(const PackingProblem& problem, int64_t work_max) {
  PackingSolution solution = Pack(problem, {.work_max = work_max});
  const absl::Status status = CheckPacking(problem, solution);
  CHECK(status.ok()) << status << " with work " << work_max << "\n"
                     << DescribePacking(problem);
  return solution;
}

// No bound of one solution is above what the other costs.
void CheckBounds(const PackingProblem& problem, const PackingSolution& bound,
                 const PackingSolution& other) {
  for (size_t level = 0; level < kLevelsMax; ++level) {
    CHECK_LE(bound.bound.waiting[level], other.cost.waiting[level])
        << DescribePacking(problem);
    // Those below are about placements that leave no more of this one.
    if (other.cost.waiting[level] > bound.cost.waiting[level]) return;
  }
  CHECK_LE(bound.bound.placed, other.cost.placed) << DescribePacking(problem);
}

void Run(Bytes bytes) {
  const int64_t little = bytes.Between(0, 100) * bytes.Between(0, 100);
  const PackingProblem problem = DrawProblem(&bytes);
  const PackingSolution at_once = PackAndCheck(problem, little);
  PackingSolution patient = PackAndCheck(problem, kPlenty);
  CheckBounds(problem, at_once, patient);
  CheckBounds(problem, patient, at_once);
  // What is known is not given up.
  PackingProblem known = problem;
  known.former = patient.patterns;
  CHECK(PackAndCheck(known, little).cost <= patient.cost)
      << DescribePacking(problem);
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::Run(sluice::Bytes({data, size}));
  return 0;
}
