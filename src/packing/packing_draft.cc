#include "packing/packing_draft.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <tuple>
#include <utility>

#include "packing/company.h"
#include "packing/pattern_rules.h"

namespace sluice {

namespace {

// Moves per call.  Each may move several tasks, and make room for one of
// another class.
constexpr int64_t kMovesMax = 20000;
constexpr int kPassesMax = 20;
// How often caps may rise while a draft is filled up.
constexpr int kRisesMax = 20;
// The work of checking how many more fit beside what is there.
constexpr int64_t kWorkPerRoom = 4;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// Stands for the number of tasks by which budgets are exceeded at the time.
constexpr int64_t kBeyondBudgets = -1;

bool HasRunning(const PackingProblem& problem, size_t cap) {
  return std::ranges::any_of(problem.caps[cap].classes,
                             [&](size_t c) { return problem.classes[c].runs; });
}

}  // namespace

PackingDraft::PackingDraft(const PackingProblem& problem, PackingRest rest,
                           Seating* seating)
    : problem_(&problem), seating_(seating), rest_(std::move(rest)) {}

int64_t PackingDraft::CostOfPattern(const Pattern& pattern) const {
  int64_t cost = 0;
  for (const auto& [task_class, count] : pattern.tasks) {
    cost += problem_->ChargeFor(task_class,
                                problem_->groups[pattern.group].kind, count);
  }
  return cost;
}

int64_t PackingDraft::CostOfMore(const Pattern& pattern, size_t c,
                                 int64_t count) const {
  const size_t kind = problem_->groups[pattern.group].kind;
  if (!problem_->classes[c].MayMove()) {
    return problem_->costs[kind][c] * count;
  }
  const int64_t there = CountOf(c, pattern);
  return problem_->ChargeFor(c, kind, there + count) -
         problem_->ChargeFor(c, kind, there);
}

int64_t PackingDraft::AlikeMore(size_t p, size_t c) const {
  if (!problem_->classes[c].MayMove()) return kNoLimit;
  const int64_t staying =
      problem_->RunningOn(c, problem_->groups[patterns_[p].group].kind) -
      CountOf(c, patterns_[p]);
  return staying > 0 ? staying : kNoLimit;
}

int64_t PackingDraft::AlikeThere(size_t p, size_t c) const {
  if (!problem_->classes[c].MayMove()) return kNoLimit;
  const int64_t moved =
      CountOf(c, patterns_[p]) -
      problem_->RunningOn(c, problem_->groups[patterns_[p].group].kind);
  return moved > 0 ? moved : kNoLimit;
}

PackingCost PackingDraft::Cost() const {
  PackingCost cost = {0, placed_cost_};
  std::vector<int64_t> waiting = rest_.tasks;
  for (auto [cap, count] : FindExcess()) {
    for (const size_t c : DropOrder(cap)) {
      const int64_t more =
          std::min(count, problem_->classes[c].count() - waiting[c]);
      waiting[c] += more;
      count -= more;
    }
  }
  AddExcessCost(*problem_, waiting, &cost.waiting);
  if (seating_ != nullptr) {
    cost.waiting.Add(seating_->CostOf(waiting));
    return cost;
  }
  for (size_t c = 0; c < waiting.size(); ++c) {
    AddWaitingCost(problem_->classes[c], waiting[c], &cost.waiting);
  }
  return cost;
}

std::vector<std::pair<size_t, int64_t>> PackingDraft::FindExcess() const {
  std::vector<std::pair<size_t, int64_t>> excess;
  for (const PackingSpread& spread : problem_->spreads) {
    const int64_t rise = RiseOf(*problem_, spread, rest_.caps);
    for (const size_t cap : spread.caps) {
      int64_t count = -rest_.caps[cap] - rise;
      if (count > 0 && rise < 0) count = std::min(count, CountNew(cap));
      if (count > 0) excess.emplace_back(cap, count);
    }
  }
  return excess;
}

// Tasks dropped for one spread may be those that let another one rise.
void PackingDraft::DropExcess() {
  for (int i = 0; i < kRisesMax; ++i) {
    const auto excess = FindExcess();
    const std::vector<int64_t> before = rest_.tasks;
    for (const auto& [cap, count] : excess) Drop(cap, count);
    if (excess.empty() || rest_.tasks == before) return;
  }
  for (const PackingSpread& spread : problem_->spreads) {
    for (const size_t cap : spread.caps) Drop(cap, -rest_.caps[cap]);
  }
  // Caps have sunk, and may sink further.
  for (std::vector<int64_t> before; before != rest_.tasks;) {
    before = rest_.tasks;
    for (const auto& [cap, count] : FindExcess()) {
      Drop(cap, count, /*keeps_running=*/true);
    }
  }
}

int64_t PackingDraft::CountNew(size_t cap) const {
  int64_t sum = 0;
  for (const Pattern& pattern : patterns_) {
    if (!std::ranges::binary_search(problem_->groups[pattern.group].caps,
                                    cap)) {
      continue;
    }
    for (const auto& [c, count] : pattern.tasks) {
      if (problem_->classes[c].runs || !problem_->caps[cap].Counts(c)) continue;
      sum += count * pattern.machines;
    }
  }
  return sum;
}

std::vector<size_t> PackingDraft::DropOrder(size_t cap) const {
  const std::vector<size_t>& classes = problem_->caps[cap].classes;
  std::vector<size_t> order(classes.rbegin(), classes.rend());
  if (!HasRunning(*problem_, cap)) return order;
  const std::vector<int64_t> excess = ExcessOfBudgets(*problem_, rest_.tasks);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t c) {
    const PackingClass& one = problem_->classes[c];
    size_t level = one.waiting.empty() ? 0 : one.waiting.front().level;
    for (const size_t b : one.budgets) {
      const PackingBudget& budget = problem_->budgets[b];
      if (excess[b] > 0) level = std::min(level, budget.level);
    }
    return level;
  });
  return order;
}

void PackingDraft::Drop(size_t cap, int64_t count, bool keeps_running) {
  if (!HasRunning(*problem_, cap)) {
    DropUnder(cap, problem_->caps[cap].classes, count);
    return;
  }
  for (const size_t c : DropOrder(cap)) {
    if (keeps_running && problem_->classes[c].runs) continue;
    count = DropUnder(cap, {c}, count);
  }
}

int64_t PackingDraft::DropUnder(size_t cap, const std::vector<size_t>& classes,
                                int64_t count) {
  for (size_t p = 0; p < patterns_.size() && count > 0; ++p) {
    if (patterns_[p].machines == 0 ||
        !std::ranges::binary_search(problem_->groups[patterns_[p].group].caps,
                                    cap)) {
      continue;
    }
    const auto tasks = patterns_[p].tasks;
    for (const auto& [c, there] : std::views::reverse(tasks)) {
      if (!std::ranges::binary_search(classes, c)) continue;
      while (count > 0 && patterns_[p].machines > 0 &&
             CountOf(c, patterns_[p]) > 0) {
        const int64_t machines = std::min(patterns_[p].machines, count);
        const int64_t each = std::min(there, count / machines);
        const size_t from = Split(p, machines);
        TakeAway(from, c, each);
        count -= each * machines;
        DropLone(from);
      }
    }
  }
  return count;
}

void PackingDraft::DropLone(size_t p) {
  const Pattern all = patterns_[p];
  const Pattern kept = WithCompany(*problem_, all);
  for (const auto& [c, count] : all.tasks) {
    if (CountOf(c, kept) == 0) TakeAway(p, c, count);
  }
}

void PackingDraft::TakeAway(size_t p, size_t c, int64_t each) {
  const int64_t machines = patterns_[p].machines;
  const Pattern taken{patterns_[p].group, machines, {{c, each}}};
  placed_cost_ += CostOfMore(patterns_[p], c, -each) * machines;
  AddTasks(c, -each, &patterns_[p]);
  rest_.tasks[c] += each * machines;
  TakeFromCaps(*problem_, taken, -machines, &rest_.caps);
}

void PackingDraft::Settle() {
  if (seating_ != nullptr) {
    std::vector<bool> has_empty;
    for (size_t c = 0; c < rest_.tasks.size(); ++c) {
      has_empty.push_back(seating_->EmptyOf(c, rest_.tasks) > 0);
    }
    std::set<size_t> failed;
    for (size_t i = 0; i < seating_->gangs().size(); ++i) {
      const Seating::Gang& gang = seating_->gangs()[i];
      const bool has_places = std::ranges::any_of(
          gang.tasks,
          [&](const auto& tasks) { return has_empty[tasks.first]; });
      if (!has_places || failed.contains(gang.kind)) continue;
      std::vector<int64_t> caps = CapsNow();
      if (!StartGang(i, &caps)) failed.insert(gang.kind);
    }
  }
  DropUnsettled();
}

void PackingDraft::DropUnsettled() {
  do {
    DropExcess();
  } while (seating_ != nullptr && DropEmpty());
}

bool PackingDraft::DropEmpty() {
  bool has_dropped = false;
  for (size_t c = 0; c < rest_.tasks.size(); ++c) {
    has_dropped |= DropOf(c, seating_->EmptyOf(c, rest_.tasks), nullptr) > 0;
  }
  return has_dropped;
}

int64_t PackingDraft::DropOf(size_t c, int64_t count,
                             std::vector<int64_t>* caps) {
  if (count <= 0) return 0;
  const std::vector<int64_t> caps_before = rest_.caps;
  const int64_t waiting_before = rest_.tasks[c];
  std::vector<size_t> order;
  for (size_t p = 0; p < patterns_.size(); ++p) {
    if (patterns_[p].machines > 0 && CountOf(c, patterns_[p]) > 0) {
      order.push_back(p);
    }
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t p) { return CostOfLast(p, c); });
  for (const size_t p : order) {
    while (count > 0 && patterns_[p].machines > 0 &&
           CountOf(c, patterns_[p]) > 0) {
      const int64_t machines = std::min(patterns_[p].machines, count);
      const int64_t each = std::min(CountOf(c, patterns_[p]), count / machines);
      const size_t from = Split(p, machines);
      TakeAway(from, c, each);
      count -= each * machines;
      DropLone(from);
    }
  }
  for (size_t cap = 0; caps != nullptr && cap < caps->size(); ++cap) {
    (*caps)[cap] += rest_.caps[cap] - caps_before[cap];
  }
  return rest_.tasks[c] - waiting_before;
}

bool PackingDraft::StartGang(size_t gang, std::vector<int64_t>* caps) {
  if (HasStarted(gang)) return true;
  const Seating::Gang& of = seating_->gangs()[gang];
  std::vector<int64_t> more;  // Tasks without a place yet.
  int64_t missing = of.minimum;
  for (const auto& [c, count] : of.tasks) {
    const int64_t found = std::min(count, seating_->EmptyOf(c, rest_.tasks));
    more.push_back(std::min(count - found, rest_.tasks[c]));
    missing -= found;
  }
  for (size_t i = 0; i < more.size(); ++i) {
    const size_t c = of.tasks[i].first;
    const int64_t waiting = rest_.tasks[c];
    FillClass(c, std::clamp<int64_t>(missing, 0, more[i]), caps);
    missing -= waiting - rest_.tasks[c];
  }
  for (const auto& [c, count] : of.tasks) {
    DropOf(c, seating_->EmptyOf(c, rest_.tasks), caps);
  }
  return HasStarted(gang);
}

void PackingDraft::FillWithGangs(size_t c, size_t level, int64_t count,
                                 std::set<size_t>* failed,
                                 std::vector<int64_t>* caps) {
  for (const size_t gang : seating_->ManifoldGangs(c)) {
    const size_t kind = seating_->gangs()[gang].kind;
    if (failed->contains(kind) || StartGang(gang, caps)) continue;
    failed->insert(kind);
  }
  const int64_t waiting = rest_.tasks[c];
  FillClass(c, std::min(count, waiting), caps);
  if (rest_.tasks[c] == waiting) return;
  const int64_t empty = seating_->EmptyOf(c, rest_.tasks, level);
  DropOf(c, std::min(empty, waiting - rest_.tasks[c]), caps);
}

std::vector<int64_t> PackingDraft::CapsNow() const {
  std::vector<int64_t> caps = rest_.caps;
  for (const PackingSpread& spread : problem_->spreads) {
    const int64_t rise = RiseOf(*problem_, spread, rest_.caps);
    for (const size_t cap : spread.caps) {
      caps[cap] += rise - problem_->caps[cap].rise_max;
    }
  }
  return caps;
}

bool PackingDraft::Put(const Pattern& pattern) {
  int64_t machines = std::min(pattern.machines, rest_.machines[pattern.group]);
  bool has_put = false;
  while (machines > 0) {
    Pattern put{pattern.group, machines, {}};
    for (const auto& [task_class, count] : pattern.tasks) {
      const int64_t placed = std::min(count, rest_.tasks[task_class]);
      if (placed > 0) put.tasks.emplace_back(task_class, placed);
    }
    put = WithCompany(*problem_,
                      WithinCaps(*problem_, std::move(put), rest_.caps));
    if (put.tasks.empty()) break;
    for (const auto& [task_class, count] : put.tasks) {
      put.machines = std::min(put.machines, rest_.tasks[task_class] / count);
    }
    machines -= put.machines;
    rest_.machines[put.group] -= put.machines;
    TakeFromCaps(*problem_, put, put.machines, &rest_.caps);
    for (const auto& [task_class, count] : put.tasks) {
      rest_.tasks[task_class] -= count * put.machines;
    }
    placed_cost_ += CostOfPattern(put) * put.machines;
    patterns_.push_back(std::move(put));
    has_put = true;
  }
  return has_put;
}

void PackingDraft::FillUp() {
  for (size_t g = 0; g < rest_.machines.size(); ++g) {
    if (rest_.machines[g] == 0) continue;
    patterns_.push_back({g, std::exchange(rest_.machines[g], 0), {}});
  }
  Settle();
  if (problem_->spreads.empty()) {
    FillWithin(rest_.caps);
  } else {
    PackingDraft other = *this;
    other.work_ = 0;
    other.FillUpSteadily();
    work_ += other.TakeWork();
    FillWithin(rest_.caps);
    Settle();
    FillUpSteadily();
    if (other.Cost() < Cost()) {
      other.work_ = work_;
      *this = std::move(other);
    }
  }
  if (seating_ != nullptr) DropUnsettled();
}

void PackingDraft::FillUpSteadily() {
  for (int i = 0; i < kRisesMax; ++i) {
    const std::vector<int64_t> before = rest_.tasks;
    FillWithin(CapsNow());
    if (rest_.tasks == before) return;
  }
}

void PackingDraft::FillWithin(std::vector<int64_t> caps) {
  FillInOrder(&caps);
  // Company may have come.
  const std::vector<size_t> depths = CompanyDepths(*problem_);
  for (size_t i = depths.empty() ? 0 : std::ranges::max(depths); i > 0; --i) {
    FillInOrder(&caps);
  }
}

void PackingDraft::FillInOrder(std::vector<int64_t>* caps) {
  // The waiting tasks of a class are its first ones; the last of them are the
  // most urgent.
  std::vector<std::tuple<size_t, size_t, int64_t>> waiting;
  const std::vector<int64_t> excess = ExcessOfBudgets(*problem_, rest_.tasks);
  for (size_t c = 0; c < rest_.tasks.size(); ++c) {
    const PackingClass& one = problem_->classes[c];
    for (const WaitingStep& step : FirstSteps(one, rest_.tasks[c])) {
      waiting.emplace_back(step.level, c, step.count);
    }
    // The first classes of a budget take all of its excess.
    std::set<size_t> levels;
    for (const size_t b : one.budgets) {
      if (excess[b] > 0) levels.insert(problem_->budgets[b].level);
    }
    for (const size_t level : levels) {
      waiting.emplace_back(level, c, kBeyondBudgets);
    }
  }
  std::ranges::sort(waiting);
  std::set<size_t> failed;  // Kinds of gangs without room.
  for (size_t i = 0; i < waiting.size();) {
    const auto [level, c, count] = waiting[i];
    int64_t sum = 0;
    for (; i < waiting.size() && std::get<0>(waiting[i]) == level &&
           std::get<1>(waiting[i]) == c;
         ++i) {
      const int64_t of_step = std::get<2>(waiting[i]);
      sum += of_step == kBeyondBudgets ? BeyondBudgets(c, level) : of_step;
    }
    if (seating_ != nullptr && seating_->HasGangs(c)) {
      FillWithGangs(c, level, sum, &failed, caps);
      continue;
    }
    FillClass(c, std::min(sum, rest_.tasks[c]), caps);
  }
}

int64_t PackingDraft::BeyondBudgets(size_t c, size_t level) const {
  const std::vector<int64_t> excess = ExcessOfBudgets(*problem_, rest_.tasks);
  int64_t most = 0;
  for (const size_t b : problem_->classes[c].budgets) {
    if (problem_->budgets[b].level == level) most = std::max(most, excess[b]);
  }
  return most;
}

void PackingDraft::FillClass(size_t c, int64_t count,
                             std::vector<int64_t>* caps) {
  if (count <= 0) return;
  // Most machines are full by now.  The flag: only those that cost as much as
  // the next one.
  std::vector<std::tuple<int64_t, size_t, bool>> order;
  for (size_t p = 0; p < patterns_.size(); ++p) {
    const int64_t cost = CostOn(patterns_[p].group, c);
    if (patterns_[p].machines == 0 || cost == kNotAllowed) continue;
    work_ += kWorkPerRoom;
    if (RoomOn(*problem_, patterns_[p], c) <= 0) continue;
    order.emplace_back(CostOfMore(patterns_[p], c, 1), p, false);
    if (AlikeMore(p, c) == kNoLimit) continue;
    std::get<bool>(order.back()) = true;
    order.emplace_back(cost + problem_->classes[c].move_cost, p, false);
  }
  work_ += std::ssize(patterns_);
  std::ranges::sort(order);
  for (const auto& [cost, p, is_limited] : order) {
    if (count == 0) return;
    while (count > 0) {
      const int64_t each = AlikeMore(p, c);
      if (is_limited && each == kNoLimit) break;
      const int64_t filled = FillOne(p, c, each, count, caps);
      if (filled == 0) break;
      count -= filled;
    }
  }
}

// Places as many more of the class as fit on the machines of a pattern, at most
// `each_max` on each.  Returns how many.
int64_t PackingDraft::FillOne(size_t p, size_t task_class, int64_t each_max,
                              int64_t count_max, std::vector<int64_t>* caps) {
  Pattern& pattern = patterns_[p];
  count_max = std::min(count_max,
                       RoomInCaps(*problem_, pattern.group, task_class, *caps));
  const int64_t more =
      std::min({RoomOn(*problem_, pattern, task_class), count_max, each_max});
  if (more <= 0 || pattern.machines == 0) return 0;
  Pattern filled = pattern;
  filled.machines = std::min(pattern.machines, count_max / more);
  const int64_t count = more * filled.machines;
  placed_cost_ += CostOfMore(pattern, task_class, more) * filled.machines;
  AddTasks(task_class, more, &filled);
  rest_.tasks[task_class] -= count;
  const Pattern put{pattern.group, 1, {{task_class, count}}};
  TakeFromCaps(*problem_, put, 1, &rest_.caps);
  TakeFromCaps(*problem_, put, 1, caps);
  pattern.machines -= filled.machines;
  if (pattern.machines == 0) {
    pattern = std::move(filled);
  } else {
    patterns_.push_back(std::move(filled));
  }
  return count;
}

size_t PackingDraft::Split(size_t p, int64_t machines) {
  if (patterns_[p].machines == machines) return p;
  patterns_.push_back(patterns_[p]);
  patterns_.back().machines = machines;
  patterns_[p].machines -= machines;
  return patterns_.size() - 1;
}

int64_t PackingDraft::MoveUp() {
  int64_t work = 0;
  int64_t moves_left = kMovesMax;
  std::vector<std::vector<size_t>> holders;
  bool has_moved = true;
  for (int i = 0; i < kPassesMax && std::exchange(has_moved, false); ++i) {
    holders.assign(rest_.tasks.size(), {});
    for (size_t p = 0; p < patterns_.size(); ++p) {
      if (patterns_[p].machines == 0) continue;
      for (const auto& [c, count] : patterns_[p].tasks) holders[c].push_back(p);
    }
    for (size_t c = 0; c < holders.size(); ++c) {
      work += std::ssize(patterns_);
      has_moved |= MoveUpClass(c, std::move(holders[c]), &moves_left);
    }
  }
  return work;
}

// Moves the most expensive first, to the cheapest places.
bool PackingDraft::MoveUpClass(size_t c, std::vector<size_t> holders,
                               int64_t* moves_left) {
  const auto last = [&](size_t p) { return CostOfLast(p, c); };
  const auto next = [&](size_t p) {
    return CostOn(patterns_[p].group, c) == kNotAllowed
               ? kNotAllowed
               : CostOfMore(patterns_[p], c, 1);
  };
  const auto room = [&](size_t p) {
    return RoomOn(*problem_, patterns_[p], c);
  };
  // Moves of other classes may have changed them.
  std::erase_if(holders,
                [&](size_t p) { return CountOf(c, patterns_[p]) == 0; });
  if (holders.empty()) return false;
  std::ranges::stable_sort(holders, std::ranges::less(), last);
  std::vector<size_t> places;
  for (size_t p = 0; p < patterns_.size(); ++p) {
    if (patterns_[p].machines > 0 && next(p) < last(holders.back()) &&
        room(p) > 0) {
      places.push_back(p);
    }
  }
  std::ranges::stable_sort(places, std::ranges::greater(), next);
  bool has_moved = false;
  while (!holders.empty() && !places.empty() &&
         next(places.back()) < last(holders.back())) {
    if (--*moves_left < 0) return false;
    const size_t holder = holders.back();
    const size_t place = places.back();
    const int64_t leaving =
        std::min(CountFreeToLeave(*problem_, patterns_[holder], c),
                 AlikeThere(holder, c));
    if (leaving == 0) {
      holders.pop_back();
      continue;
    }
    const int64_t room_to_move =
        RoomToMove(c, patterns_[holder].group, patterns_[place].group);
    const int64_t count =
        std::min({leaving, room(place), AlikeMore(place, c), room_to_move});
    if (count <= 0) {
      places.pop_back();
      continue;
    }
    const int64_t machines =
        std::min({patterns_[holder].machines, patterns_[place].machines,
                  room_to_move / count});
    const size_t from = Split(holder, machines);
    const size_t to = Split(place, machines);
    placed_cost_ += machines * (CostOfMore(patterns_[to], c, count) +
                                CostOfMore(patterns_[from], c, -count));
    const std::vector<std::pair<size_t, int64_t>> moved = {{c, count}};
    TakeFromCaps(*problem_, {patterns_[from].group, 1, moved}, -machines,
                 &rest_.caps);
    TakeFromCaps(*problem_, {patterns_[to].group, 1, moved}, machines,
                 &rest_.caps);
    AddTasks(c, -count, &patterns_[from]);
    AddTasks(c, count, &patterns_[to]);
    has_moved = true;
    // The part that was split off and the remainder each get a turn.
    if (from == holder) holders.pop_back();
    if (CountFreeToLeave(*problem_, patterns_[from], c) > 0)
      holders.push_back(from);
    if (to == place) places.pop_back();
    if (room(to) > 0) places.push_back(to);
  }
  return has_moved;
}

int64_t PackingDraft::RoomToMove(size_t task_class, size_t from,
                                 size_t to) const {
  const std::vector<size_t>& here = problem_->groups[from].caps;
  const std::vector<size_t>& there = problem_->groups[to].caps;
  if (here == there) return std::numeric_limits<int64_t>::max();
  int64_t room = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> now =
      problem_->spreads.empty() ? rest_.caps : CapsNow();
  for (const size_t cap : there) {
    const PackingCap& one = problem_->caps[cap];
    const int64_t weight = problem_->WeightIn(one, task_class);
    if (weight > 0 && !std::ranges::binary_search(here, cap)) {
      room = std::min(room, (now[cap] + one.rise_max) / weight);
    }
  }
  // No spread may sink.
  for (const PackingSpread& spread : problem_->spreads) {
    const int64_t rise = RiseOf(*problem_, spread, rest_.caps);
    for (size_t i = 0; i < spread.caps.size(); ++i) {
      const size_t cap = spread.caps[i];
      const PackingCap& one = problem_->caps[cap];
      if (!one.Counts(task_class) || !std::ranges::binary_search(here, cap) ||
          std::ranges::binary_search(there, cap)) {
        continue;
      }
      room =
          std::min(room, spread.ahead[i] + one.most - rest_.caps[cap] - rise);
    }
  }
  return room;
}

void PackingDraft::TakeOut(size_t p, PackingRest* rest) {
  Pattern& pattern = patterns_[p];
  --pattern.machines;
  ++rest->machines[pattern.group];
  for (const auto& [task_class, count] : pattern.tasks) {
    rest->tasks[task_class] += count;
  }
  TakeFromCaps(*problem_, pattern, -1, &rest->caps);
  placed_cost_ -= CostOfPattern(pattern);
}

void PackingDraft::PutBack(size_t p) {
  ++patterns_[p].machines;
  placed_cost_ += CostOfPattern(patterns_[p]);
}

void PackingDraft::PutIn(const PackingDraft& made) {
  rest_.tasks = made.rest_.tasks;
  rest_.caps = made.rest_.caps;
  placed_cost_ += made.placed_cost_;
  patterns_.insert(patterns_.end(), made.patterns_.begin(),
                   made.patterns_.end());
  const auto used = std::ranges::count_if(
      patterns_, [](const Pattern& pattern) { return pattern.machines > 0; });
  if (2 * used < std::ssize(patterns_)) {
    std::erase_if(patterns_,
                  [](const Pattern& pattern) { return pattern.machines == 0; });
  }
}

}  // namespace sluice
