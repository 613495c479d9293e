#include "round/plans/displacement.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "round/packing/running_tasks.h"
#include "round/passes/tier_demand.h"
#include "state/machine_parts.h"

namespace sluice {
namespace {

// The maximum number of choices weighed on one machine in search of cheaper
// victims.
constexpr int64_t kChoicesMax = 2000;
// The work of a choice, and of a task that may have to leave.
constexpr int64_t kWorkPerChoice = 4;
constexpr int64_t kWorkPerTask = 10;
// The distance between the starting points of two consecutive searches.
constexpr size_t kMachinesApart = 997;
// How many tasks counted by a spread elsewhere in a domain are considered
// beyond the minimum that must leave.
constexpr int64_t kSpareCounted = 8;

// How many times the rules require the term.
int64_t TimesOf(const CountedTerm* term, const PeerTerms& terms) {
  return std::ranges::count(terms.anti_affinity, term);
}

// The price of going through its domains.
int64_t WorkOf(const TopologySpread& spread) {
  return 1 + std::ssize(spread.counts()) / 8;
}

void AddOnce(const std::vector<const Task*>& more,
             std::vector<const Task*>* tasks) {
  for (const Task* task : more) {
    if (std::ranges::count(*tasks, task) == 0) tasks->push_back(task);
  }
}

}  // namespace

DisplacementSearch::DisplacementSearch(const Subject& subject,
                                       const ClassKey& key, Allowance* work)
    : state_(subject.state),
      constraints_(subject.constraints),
      eligibility_(subject.eligibility),
      stoppable_(subject.stoppable),
      key_(key),
      work_(*work),
      terms_(state_.peers().TermsOf(*key.rules)) {
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : state_.peers().TermsAbout(selector)) {
      if (term->keeping_away.total() > 0) about_.push_back(term);
    }
  }
  for (size_t i = 0; i < key_.rules->spread.size(); ++i) {
    if (!key_.rules->spread[i].is_required) continue;
    spreads_.emplace_back(state_, constraints_, key_, i);
  }
  FindAffinity();
  if (terms_.anti_affinity.empty() && terms_.affinity.empty() &&
      about_.empty()) {
    return;
  }
  work_.Spend(std::ssize(state_.tasks()));
  for (const auto& [id, task] : state_.tasks()) {
    if (task->state == TaskState::kRunning &&
        task->class_key.DependsOnPeers()) {
      LookAt(*task);
    }
  }
}

void DisplacementSearch::FindAffinity() {
  if (terms_.affinity.empty()) return;
  may_be_first_ = IsMeantBy(*terms_.affinity.front(), key_);
  for (const CountedTerm* term : terms_.affinity) {
    Tally& staying = company_.emplace_back();
    for (const auto& [domain, count] : term->meant.counts()) {
      staying.Add(domain, count - term->leaving.At(domain));
    }
  }
}

void DisplacementSearch::LookAt(const Task& task) {
  // A task on a departed machine may never leave.
  const bool is_leaving =
      task.is_evicted && state_.FindMachine(task.machine)->IsSound();
  const bool may_leave = !task.is_evicted && stoppable_.MayLeave(task);
  if (!terms_.affinity.empty() &&
      IsMeantBy(*terms_.affinity.front(), task.class_key)) {
    if (may_leave) companions_.push_back(&task);
    // Its successors may come before the class does, and would be stopped in
    // vain again and again.
    const bool is_stopped_often = task.disturbances >= kDisturbancesMax;
    if (!is_leaving && (!may_leave || is_stopped_often)) may_be_first_ = false;
  }
  if (!may_leave && !is_leaving) return;
  const auto note = [&](int64_t times, Apart* apart) {
    apart->leaving += times;
    if (may_leave) apart->may_leave.push_back(&task);
  };
  for (const CountedTerm* term : terms_.anti_affinity) {
    const DomainIndex domain = term->topology->DomainOf(task.machine);
    if (domain == kNoDomain || !IsMeantBy(*term, task.class_key)) continue;
    note(1, &avoided_[{term, domain}]);
  }
  const PeerTerms& of_task = state_.peers().TermsOf(*task.class_key.rules);
  for (const CountedTerm* term : about_) {
    const DomainIndex domain = term->topology->DomainOf(task.machine);
    const int64_t times = TimesOf(term, of_task);
    if (domain == kNoDomain || times == 0) continue;
    note(times, &avoiding_[{term, domain}]);
  }
}

void DisplacementSearch::NoteComing(const ClassKey& key, MachineId machine) {
  more_room_[machine] -= key.request;
  std::vector<HostPort>& ports = ports_taken_[machine];
  ports.insert(ports.end(), key.rules->host_ports.begin(),
               key.rules->host_ports.end());
  for (size_t i = 0; i < company_.size(); ++i) {
    const CountedTerm& term = *terms_.affinity[i];
    const DomainIndex domain = term.topology->DomainOf(machine);
    if (domain == kNoDomain || !IsMeantBy(term, key)) continue;
    company_[i].Add(domain, 1);
    may_be_first_ = false;
  }
  for (const CountedTerm* term : terms_.anti_affinity) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain || !IsMeantBy(*term, key)) continue;
    ++avoided_[{term, domain}].coming;
  }
  for (const CountedTerm* term :
       state_.peers().TermsOf(*key.rules).anti_affinity) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain || !IsMeantBy(*term, key_)) continue;
    ++avoiding_[{term, domain}].coming;
    if (std::ranges::count(about_, term) == 0) about_.push_back(term);
  }
  for (TopologySpread& spread : spreads_) spread.Note(key, machine);
  counted_.clear();
}

void DisplacementSearch::NoteStopped(const Task& task) {
  more_room_[task.machine] += task.class_key.request;
  for (size_t i = 0; i < company_.size(); ++i) {
    const CountedTerm& term = *terms_.affinity[i];
    const DomainIndex domain = term.topology->DomainOf(task.machine);
    if (domain == kNoDomain || !IsMeantBy(term, task.class_key)) continue;
    company_[i].Add(domain, -1);
  }
  std::erase(companions_, &task);
  const auto drop = [&task](const CountedTerm* term, auto* table) {
    const auto it = table->find({term, term->topology->DomainOf(task.machine)});
    if (it != table->end()) std::erase(it->second.may_leave, &task);
  };
  for (const CountedTerm* term : terms_.anti_affinity) drop(term, &avoided_);
  for (const CountedTerm* term : about_) drop(term, &avoiding_);
  for (TopologySpread& spread : spreads_) {
    spread.Note(task.class_key, task.machine, -1);
  }
  counted_.clear();
}

bool DisplacementSearch::IsFirstWithout(
    std::span<const Task* const> gone) const {
  if (!may_be_first_) return false;
  for (size_t i = 0; i < company_.size(); ++i) {
    const CountedTerm& term = *terms_.affinity[i];
    const auto fewer = std::ranges::count_if(gone, [&](const Task* task) {
      return IsMeantBy(term, task->class_key) &&
             term.topology->DomainOf(task->machine) != kNoDomain;
    });
    if (company_[i].total() > fewer) return false;
  }
  return true;
}

bool DisplacementSearch::MeetsAffinity(
    MachineId machine, std::span<const Task* const> gone) const {
  const bool is_first = IsFirstWithout(gone);
  for (size_t i = 0; i < company_.size(); ++i) {
    const CountedTerm& term = *terms_.affinity[i];
    const DomainIndex domain = term.topology->DomainOf(machine);
    if (domain == kNoDomain) return false;
    if (is_first) continue;
    const auto fewer = std::ranges::count_if(gone, [&](const Task* task) {
      return IsMeantBy(term, task->class_key) &&
             term.topology->DomainOf(task->machine) == domain;
    });
    if (company_[i].At(domain) <= fewer) return false;
  }
  return true;
}

bool DisplacementSearch::IsLetIn(const Machine& machine,
                                 std::span<const Task* const> gone) const {
  if (!MeetsAffinity(machine.id, gone)) return false;
  return std::ranges::all_of(spreads_, [&](const TopologySpread& spread) {
    TopologySpread without = spread;
    work_.Spend(WorkOf(spread));
    for (const Task* task : gone) {
      without.Note(task->class_key, task->machine, -1);
    }
    return without.Allows(machine.id);
  });
}

bool DisplacementSearch::AddApart(const Machine& machine, Tasks* forced) const {
  const auto add = [&](const CountedTerm* term, int64_t there,
                       const auto& table) {
    const DomainIndex domain = term->topology->DomainOf(machine.id);
    if (domain == kNoDomain) return true;
    const auto it = table.find({term, domain});
    if (it == table.end()) return there == 0;
    if (there + it->second.coming > it->second.leaving) return false;
    forced->insert(forced->end(), it->second.may_leave.begin(),
                   it->second.may_leave.end());
    return true;
  };
  return std::ranges::all_of(
             terms_.anti_affinity,
             [&](const CountedTerm* term) {
               const DomainIndex at = term->topology->DomainOf(machine.id);
               return add(term, term->meant.At(at) + term->expected.At(at),
                          avoided_);
             }) &&
         std::ranges::all_of(about_, [&](const CountedTerm* term) {
           const DomainIndex at = term->topology->DomainOf(machine.id);
           return add(term, term->keeping_away.At(at), avoiding_);
         });
}

bool DisplacementSearch::AddPortUsers(const Machine& machine, Tasks* forced) {
  if (!key_.rules->ComeOneByOne()) return true;
  Machine after = machine;
  const auto it = ports_taken_.find(machine.id);
  if (it != ports_taken_.end()) after.KeepPorts(it->second);
  for (const TaskId id : machine.tasks) {
    const Task& task = *state_.FindTask(id);
    const bool is_in_the_way = WantSamePort(*task.class_key.rules, *key_.rules);
    const bool is_gone = task.is_evicted || stoppable_.IsStopped(task);
    if (is_in_the_way && !is_gone) {
      if (!stoppable_.MayLeave(task)) return false;
      forced->push_back(&task);
    }
    if (is_in_the_way || is_gone) {
      after.ReleasePorts(task.class_key.rules->host_ports);
      Bind(task.class_key, task.pu, -1, &after);
    }
  }
  return constraints_.AllowsLoadBesideFit(key_, after);
}

std::optional<DisplacementSearch::Tasks> DisplacementSearch::FindForced(
    const Machine& machine) {
  Tasks forced;
  if (!AddApart(machine, &forced) || !AddPortUsers(machine, &forced)) {
    return std::nullopt;
  }
  work_.Spend(std::ssize(forced));
  return WithGangsOnce(std::move(forced));
}

DisplacementSearch::Tasks DisplacementSearch::WithGangsOnce(Tasks tasks) const {
  std::ranges::sort(tasks, {}, &Task::id);
  const auto again = std::ranges::unique(tasks);
  tasks.erase(again.begin(), again.end());
  return stoppable_.WithGangs(std::move(tasks));
}

bool DisplacementSearch::IsCheaper(
    const Tasks& forced, const std::optional<Displacement>& best) const {
  if (!best.has_value()) return true;
  StopPrice price;
  for (const Task* task : forced) {
    price.Add(task->class_key.priority, stoppable_.CostOf(*task));
  }
  return price < best->price;
}

void DisplacementSearch::SortDearestFirst(const Resources& whole,
                                          Tasks* tasks) const {
  // Among equals the smaller ones stay, then those that came first.
  std::ranges::sort(*tasks, {}, [&](const Task* task) {
    return std::tuple(-int64_t{task->class_key.priority},
                      -stoppable_.CostOf(*task),
                      SizeOf(task->class_key.request, whole), task->placed_ms,
                      task->sequence);
  });
}

const DisplacementSearch::Tasks& DisplacementSearch::CountedIn(
    size_t spread, MachineId machine) {
  const TopologySpread& of = spreads_[spread];
  const DomainIndex domain = of.topology().DomainOf(machine);
  const auto [it, is_new] = counted_.try_emplace({spread, domain});
  if (!is_new || domain == kNoDomain) return it->second;
  for (const MachineId id : of.topology().MachinesOf(domain)) {
    if (!of.Counts(id)) continue;
    const Machine& there = *state_.FindMachine(id);
    work_.Spend(kWorkPerTask * std::ssize(there.tasks));
    for (const TaskId one : there.tasks) {
      const Task& task = *state_.FindTask(one);
      if (of.Means(task.class_key) && stoppable_.MayLeave(task)) {
        it->second.push_back(&task);
      }
    }
  }
  SortDearestFirst(Resources(), &it->second);
  return it->second;
}

int64_t DisplacementSearch::NeededBeside(
    const TopologySpread& spread, const Machine& machine,
    std::span<const Task* const> gone) const {
  work_.Spend(WorkOf(spread));
  if (gone.empty()) return spread.LeaversNeeded(machine.id);
  TopologySpread without = spread;
  for (const Task* task : gone) {
    without.Note(task->class_key, task->machine, -1);
  }
  return without.LeaversNeeded(machine.id);
}

DisplacementSearch::Tasks DisplacementSearch::FindOptional(
    const Machine& machine, const Tasks& forced) {
  Tasks optional;
  for (const TaskId id : machine.tasks) {
    const Task* task = state_.FindTask(id);
    if (stoppable_.MayLeave(*task) && std::ranges::count(forced, task) == 0) {
      optional.push_back(task);
    }
  }
  std::vector<int64_t> needed;
  for (const TopologySpread& spread : spreads_) {
    needed.push_back(NeededBeside(spread, machine, forced));
  }
  // What one spread counts in a domain may be in the emptiest domain of
  // another.
  const bool is_any_needed =
      std::ranges::any_of(needed, [](int64_t count) { return count > 0; });
  for (size_t i = 0; is_any_needed && i < spreads_.size(); ++i) {
    const Tasks& counted = CountedIn(i, machine.id);
    int64_t left = needed[i] + kSpareCounted;
    for (auto it = counted.rbegin(); it != counted.rend() && left > 0; ++it) {
      if (std::ranges::count(forced, *it) > 0) continue;
      AddOnce({*it}, &optional);
      --left;
    }
  }
  SortDearestFirst(machine.allocatable, &optional);
  return optional;
}

Resources DisplacementSearch::RoomOn(const Machine& machine) const {
  Resources room = machine.Free() + state_.nominations().LeavingFrom(machine);
  if (machine.KeepsRoom()) room -= machine.awaited;
  const auto it = more_room_.find(machine.id);
  if (it != more_room_.end()) room += it->second;
  return room;
}

// Who leaves one machine and who stays.  Staying is tried first for each task.
class DisplacementSearch::OnMachine {
 public:
  OnMachine(DisplacementSearch* search, const Machine& machine, Tasks forced,
            std::optional<Displacement>* best)
      : search_(*search),
        machine_(machine),
        optional_(search_.FindOptional(machine, forced)),
        leaving_(std::move(forced)),
        room_(search_.RoomOn(machine)),
        choices_left_(
            std::max<int64_t>(kChoicesMax, 4 * std::ssize(optional_))),
        best_(*best) {
    for (const Task* task : leaving_) {
      price_.Add(task->class_key.priority, search_.stoppable_.CostOf(*task));
      if (task->machine == machine_.id) room_ += task->class_key.request;
    }
    // The room that all the remaining ones would make.
    rests_.resize(optional_.size() + 1);
    for (size_t i = optional_.size(); i-- > 0;) {
      rests_[i] = rests_[i + 1];
      if (optional_[i]->machine == machine_.id) {
        rests_[i] += optional_[i]->class_key.request;
      }
    }
    for (const TopologySpread& spread : search_.spreads_) {
      needs_.push_back(NeedOf(spread));
    }
  }

  void Choose() { ChooseFrom(0); }

 private:
  // How many tasks that the spread counts in the machine's domain must leave,
  // and how many of the optional ones from each on could.
  struct Need {
    int64_t count = 0;
    std::vector<int64_t> rests;
    std::vector<bool> is_counted;
  };

  Need NeedOf(const TopologySpread& spread) const {
    const auto is_counted = [&](const Task* task) {
      return spread.topology().DomainOf(task->machine) ==
                 spread.topology().DomainOf(machine_.id) &&
             spread.Means(task->class_key) && spread.Counts(task->machine);
    };
    Need need = {.count = search_.NeededBeside(spread, machine_, leaving_),
                 .rests = std::vector<int64_t>(optional_.size() + 1, 0),
                 .is_counted = {}};
    for (size_t i = optional_.size(); i-- > 0;) {
      need.rests[i] = need.rests[i + 1] + (is_counted(optional_[i]) ? 1 : 0);
    }
    for (const Task* task : optional_) {
      need.is_counted.push_back(is_counted(task));
    }
    return need;
  }

  // True if those from `next` on might suffice, by a quick check.
  bool MaySuffice(size_t next) const {
    return search_.key_.request.FitsIn(room_ + rests_[next]) &&
           std::ranges::all_of(needs_, [next](const Need& need) {
             return need.count <= need.rests[next];
           });
  }

  bool IsCheaper(const StopPrice& price) const {
    return !best_.has_value() || price < best_->price;
  }

  void ChooseFrom(size_t next) {
    search_.work_.Spend(kWorkPerChoice);
    if (--choices_left_ < 0 || search_.work_.IsExceeded() ||
        !MaySuffice(next) || !IsCheaper(price_)) {
      return;
    }
    if (next == optional_.size()) {
      Conclude();
      return;
    }
    ChooseFrom(next + 1);
    const Task& task = *optional_[next];
    Leave(task, next, 1);
    if (search_.stoppable_.may_break_budgets() ||
        search_.stoppable_.CountBeyondBudgets(leaving_) == 0) {
      ChooseFrom(next + 1);
    }
    Leave(task, next, -1);
  }

  // With -1 it stays after all.
  void Leave(const Task& task, size_t index, int64_t sign) {
    price_.Add(task.class_key.priority, search_.stoppable_.CostOf(task), sign);
    if (task.machine == machine_.id) {
      room_.AddScaled(task.class_key.request, sign);
    }
    for (Need& need : needs_) {
      if (need.is_counted[index]) need.count -= sign;
    }
    if (sign > 0) {
      leaving_.push_back(&task);
    } else {
      leaving_.pop_back();
    }
  }

  void Conclude() {
    StoppableTasks& stoppable = search_.stoppable_;
    Displacement found = {.machine = machine_.id,
                          .victims = stoppable.WithGangs(leaving_)};
    search_.work_.Spend(kWorkPerTask * std::ssize(found.victims));
    found.price.beyond_budgets = stoppable.CountBeyondBudgets(found.victims);
    for (const Task* task : found.victims) {
      found.price.Add(task->class_key.priority, stoppable.CostOf(*task));
    }
    if (found.price.beyond_budgets > 0 && !stoppable.may_break_budgets()) {
      return;
    }
    if (IsCheaper(found.price) && search_.IsLetIn(machine_, found.victims)) {
      best_ = std::move(found);
    }
  }

  DisplacementSearch& search_;
  const Machine& machine_;
  const Tasks optional_;  // The dearest first.
  Tasks leaving_;
  Resources room_;  // Once these are gone.
  StopPrice price_;
  std::vector<Resources> rests_;
  std::vector<Need> needs_;  // By spread.
  int64_t choices_left_;
  std::optional<Displacement>& best_;
};

void DisplacementSearch::Try(const Machine& machine,
                             std::optional<Displacement>* best) {
  work_.Spend(1);
  if (!eligibility_.Allows(*key_.rules, machine) || !MayLoseTasks(machine)) {
    return;
  }
  work_.Spend(kWorkPerTask * std::ssize(machine.tasks));
  std::optional<Tasks> forced = FindForced(machine);
  if (!forced.has_value()) return;
  const bool has_company = !terms_.affinity.empty() && !IsFirstWithout({});
  if (has_company && may_be_first_) {
    Tasks all = *forced;
    all.insert(all.end(), companions_.begin(), companions_.end());
    Choose(machine, WithGangsOnce(std::move(all)), best);
  }
  if (has_company && !MeetsAffinity(machine.id, *forced)) return;
  Choose(machine, *std::move(forced), best);
}

void DisplacementSearch::Choose(const Machine& machine, Tasks forced,
                                std::optional<Displacement>* best) {
  if (!IsCheaper(forced, *best)) return;
  OnMachine(this, machine, std::move(forced), best).Choose();
}

std::optional<Displacement> DisplacementSearch::FindCheapest(
    absl::FunctionRef<bool(MachineId)> is_wanted, size_t first) {
  std::vector<const Machine*> machines;
  for (const auto& [id, machine] : state_.machines()) {
    if (is_wanted(id)) machines.push_back(machine.get());
  }
  work_.Spend(std::ssize(state_.machines()));
  // Far from where the last search began: it may have come that far.
  first *= kMachinesApart;
  std::optional<Displacement> best;
  for (size_t i = 0; i < machines.size() && !work_.IsSpent(); ++i) {
    Try(*machines[(first + i) % machines.size()], &best);
    if (best.has_value() && best->price.IsFree()) break;
  }
  return best;
}

}  // namespace sluice
