#include "round/search/arrangement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "round/search/movable_placements.h"
#include "round/search/relocator.h"
#include "round/search/suitability.h"
#include "round/search/wish_restarts.h"
#include "round/search/wish_search.h"

namespace sluice {
namespace {

// Per task: machines of a kind, those with the lowest load first, and tasks to
// swap it with.
constexpr int kMachinesPerKindMax = 64;
constexpr int64_t kPartnersMax = 64;
// Moves tasks with preferences to where these are met, and tasks of a job
// apart.
class Arranger {
 public:
  Arranger(RoundContext* context, MovablePlacements* placements,
           Allowance* work)
      : context_(*context),
        state_(context->state),
        policies_(context->policies),
        placements_(*placements),
        work_(*work),
        suitability_(context, placements, work),
        relocator_(policies_, placements, &suitability_, work) {}

  // Tasks with preferences, and tasks that share a machine with others of their
  // job, by index.  Returns how many moved.
  int64_t Run(std::span<const size_t> wishing,
              std::span<const size_t> crowded) {
    // Preferences come first, but leave the others a third of the work.
    const int64_t work_kept = crowded.empty() ? 0 : work_.left() / 3;
    WishSearch search(&context_, &placements_, &suitability_, &work_,
                      work_kept);
    int64_t moved = search.Run(wishing);
    moved += WishRestarts(&placements_, &suitability_, &search).Run(wishing);
    FindTwins(crowded);
    for (const size_t i : crowded) moved += MoveApart(i) ? 1 : 0;
    return moved + Relieve();
  }

 private:
  // The tasks of one class, by ascending index, and for each the position of
  // the next one of another job, or the end.
  struct Twins {
    std::vector<size_t> indices;
    std::vector<int64_t> next_job;
  };

  // How far one job's tasks of one class have come through the machines of a
  // kind, in order of load.  Each machine before `next` cannot take another
  // task, or has more tasks of the job than `siblings`; the least that any of
  // these has is `more`.
  static constexpr int64_t kNoMore = std::numeric_limits<int64_t>::max();
  struct Frontier {
    int64_t siblings = 0;
    std::pair<Cost, MachineId> next = {std::numeric_limits<Cost>::min(), {}};
    int64_t more = kNoMore;
  };

  bool IsSpent() const { return work_.IsSpent(); }

  // Moves the task to a machine with fewer tasks of its job, if everything else
  // is no worse.
  bool MoveApart(size_t index) {
    const Placement one = placements_[index];
    const int64_t count = placements_.CountSiblings(one.task->job, one.machine);
    if (IsSpent() || count < 2) return false;
    const View& view = suitability_.ViewOf(one.task->class_key);
    if (!view.is_movable) return false;
    const Twins& twins = twins_.at(one.task->class_key);
    // An equal task could not leave a machine with as few siblings.
    int64_t& stuck = stuck_[{
        one.task->job, &twins,
        suitability_.PreferenceOn(view, *state_.FindMachine(one.machine))}];
    if (count <= stuck) return false;
    if (ExchangeForTwin(index, twins)) return true;
    if (suitability_.MakesWay(one)) return false;
    if (MoveToLiked(index, /*heeds_load=*/false)) {
      laden_.insert(placements_[index].machine);
      return true;
    }
    if (!IsSpent()) stuck = count;
    return false;
  }

  // Tasks of one class are interchangeable; only their jobs would see a
  // difference.
  void FindTwins(std::span<const size_t> crowded) {
    if (crowded.empty()) return;
    for (const size_t i : crowded) twins_[placements_[i].task->class_key];
    work_.Spend(std::ssize(placements_.all()));
    auto of_class = twins_.end();  // Mostly the same as the one before.
    for (size_t i = 0; i < placements_.size(); ++i) {
      const ClassKey& one = placements_[i].task->class_key;
      if (i == 0 || one != placements_[i - 1].task->class_key) {
        of_class = twins_.find(one);
      }
      if (of_class != twins_.end()) of_class->second.indices.push_back(i);
    }
    for (auto& [key, twins] : twins_) {
      const auto job_at = [&](int64_t at) {
        return placements_[twins.indices[static_cast<size_t>(at)]].task->job;
      };
      int64_t next = std::ssize(twins.indices);
      twins.next_job.resize(twins.indices.size());
      for (int64_t at = next - 1; at >= 0; --at) {
        twins.next_job[static_cast<size_t>(at)] = next;
        if (at > 0 && job_at(at - 1) != job_at(at)) next = at;
      }
    }
  }

  bool ExchangeForTwin(size_t index, const Twins& twins) {
    const Placement one = placements_[index];
    const JobId job = one.task->job;
    const auto cost = [&](JobId whose, MachineId machine, int64_t more) {
      return policies_.SiblingCost(placements_.CountSiblings(whose, machine) +
                                   more);
    };
    int64_t partners_left = kPartnersMax;
    // Each begins elsewhere; otherwise all would try the same.
    const auto begin =
        std::ranges::upper_bound(twins.indices, index) - twins.indices.begin();
    int64_t next = 0;
    for (int64_t i = 0; i < std::ssize(twins.indices); i = next) {
      const auto at =
          static_cast<size_t>((begin + i) % std::ssize(twins.indices));
      const size_t other = twins.indices[at];
      const Placement twin = placements_[other];
      const JobId its_job = twin.task->job;
      work_.Spend(1);
      if (IsSpent()) break;
      if (its_job == job) {
        next = i + twins.next_job[at] - static_cast<int64_t>(at);
        continue;
      }
      next = i + 1;
      if (twin.machine == one.machine) continue;
      if (partners_left-- == 0) break;
      if (cost(job, twin.machine, 0) + cost(its_job, one.machine, 0) >=
          cost(job, one.machine, -1) + cost(its_job, twin.machine, -1)) {
        continue;
      }
      placements_.Withdraw(index);
      placements_.Withdraw(other);
      placements_.Place(index, twin.machine);
      placements_.Place(other, one.machine);
      return true;
    }
    return false;
  }

  // Moves the task to the machine it likes best, among those of each kind with
  // the lowest load.  `heeds_load`: or to an equally good one with a lower
  // load; REQUIRES that it has no peers.
  bool MoveToLiked(size_t index, bool heeds_load) {
    return relocator_.Move(index, [&](Choice* choice) {
      const View& view = *choice->seeker.view;
      const Machine& home = *choice->seeker.home;
      Resources others = home.used;
      others -= choice->seeker.task->class_key.request;
      choice->liking.load = heeds_load ? policies_.LoadCost(home, others)
                                       : std::numeric_limits<Cost>::min();
      for (const auto& [preference, kind] : view.kinds) {
        // Peers may be worth more than a preference.
        if (view.peers == nullptr && preference > choice->liking.wishes) break;
        if (view.peers == nullptr && preference == choice->liking.wishes &&
            !heeds_load) {
          ConsiderLeastCrowded(kind, choice);
          continue;
        }
        int machines_left = kMachinesPerKindMax;
        for (const auto& [load, id] : placements_.by_load().OfKind(kind)) {
          if (machines_left-- == 0 || IsSpent()) break;
          if (id == home.id) continue;
          // The machines behind it have more load, and none has fewer siblings.
          if (view.peers == nullptr && preference == choice->liking.wishes &&
              choice->liking.siblings == 0 && load >= choice->liking.load) {
            break;
          }
          // If so, no other machine of the kind is liked better.
          if (relocator_.Consider(*state_.FindMachine(id), choice) &&
              choice->liking.siblings == 0 && view.peers == nullptr) {
            break;
          }
        }
      }
    });
  }

  // Considers the machine of the kind with the fewest tasks of the job, and
  // among several the one with the lowest load.  REQUIRES: the task has no
  // peers, and likes the kind as much as the best choice so far.
  void ConsiderLeastCrowded(size_t kind, Choice* choice) {
    const Task& task = *choice->seeker.task;
    const auto& machines = placements_.by_load().OfKind(kind);
    Frontier& frontier =
        frontiers_[{task.job, &twins_.at(task.class_key), kind}];
    int machines_left = kMachinesPerKindMax;
    while (std::pair(policies_.SiblingCost(frontier.siblings),
                     frontier.next.first) <
           std::pair(choice->liking.siblings, choice->liking.load)) {
      for (auto it = machines.lower_bound(frontier.next); it != machines.end();
           ++it) {
        if (IsSpent() || machines_left == 0) return;
        frontier.next = *it;
        const MachineId id = it->second;
        const int64_t siblings = placements_.CountSiblings(task.job, id);
        if (siblings > frontier.siblings) {
          frontier.more = std::min(frontier.more, siblings);
        } else if (const Machine& machine = *state_.FindMachine(id);
                   suitability_.MayGo(choice->seeker, machine)) {
          // The machine may come earlier in the order once the task is there.
          frontier.more = std::min(frontier.more, siblings + 1);
          relocator_.Consider(machine, choice);
          return;
        } else {
          --machines_left;
        }
      }
      if (frontier.more == kNoMore) return;
      frontier = {.siblings = frontier.more};
    }
  }

  // Tasks went to machines with fewer of their job, regardless of load.  Others
  // that may as well be elsewhere make up for it.
  int64_t Relieve() {
    int64_t moved = 0;
    for (const MachineId id : laden_) {
      for (const size_t i : placements_.On(id)) {
        if (IsSpent()) return moved;
        const Placement& one = placements_[i];
        const View& view = suitability_.ViewOf(one.task->class_key);
        if (view.is_movable && view.peers == nullptr &&
            !suitability_.MakesWay(one) &&
            MoveToLiked(i, /*heeds_load=*/true)) {
          ++moved;
        }
      }
    }
    return moved;
  }

  RoundContext& context_;
  const ClusterState& state_;
  const PolicySet& policies_;
  MovablePlacements& placements_;
  Allowance& work_;
  Suitability suitability_;
  Relocator relocator_;
  std::map<ClassKey, Twins> twins_;  // Of classes with crowded tasks.
  // How many of a job were on a machine, by their class and preference cost
  // there.
  absl::flat_hash_map<std::tuple<JobId, const Twins*, Cost>, int64_t> stuck_;
  absl::flat_hash_map<std::tuple<JobId, const Twins*, size_t>, Frontier>
      frontiers_;              // By kind, too.
  std::set<MachineId> laden_;  // Where tasks went apart.
};

bool HasWishes(const ClusterState& state, const ClassKey& key) {
  const auto is_wished_by_others = [&](uint32_t selector) {
    return std::ranges::any_of(
        state.peers().TermsAbout(selector),
        [](const CountedTerm* term) { return !term->worth.counts().empty(); });
  };
  return LeaveMovable(*key.rules) &&
         (!key.rules->preferred_peers.empty() || !key.rules->spread.empty() ||
          key.rules->kind.has_value() ||
          std::ranges::any_of(*key.meant_by, is_wished_by_others));
}

// The tasks that have a preference, or that others prefer to be near or far
// from, unless their own rules bind them.
std::vector<size_t> FindWishing(const ClusterState& state,
                                std::span<const Placement> placements) {
  std::vector<size_t> wishing;
  // Mostly the same as the one before.
  using Kind = std::pair<const PlacementRules*, const SelectorSet*>;
  absl::flat_hash_map<Kind, bool> known;
  Kind last;
  bool is_last_wishing = false;
  for (size_t i = 0; i < placements.size(); ++i) {
    const ClassKey& key = placements[i].task->class_key;
    if (!key.DependsOnPeers()) continue;
    const Kind kind = {key.rules, key.meant_by};
    if (kind != last) {
      const auto [it, is_new] = known.try_emplace(kind, false);
      if (is_new) it->second = HasWishes(state, key);
      last = kind;
      is_last_wishing = it->second;
    }
    if (is_last_wishing) wishing.push_back(i);
  }
  return wishing;
}

}  // namespace

int64_t Arrange(RoundContext* context) {
  if (context->options.improve_budget <= 0 ||
      context->budget.IsSpent(Effort::kPasses))
    return 0;
  context->state.SyncPeers();
  const bool heeds_siblings = context->policies.Charges(CostKind::kSiblings);
  const bool heeds_peers = context->policies.Charges(CostKind::kPeers) &&
                           !context->state.peers().empty();
  if (!heeds_siblings && !heeds_peers) return 0;
  Allowance work(Piece::kArrangement, &context->budget);
  MovablePlacements placements(context, &work);
  std::vector<size_t> crowded;
  if (heeds_siblings) crowded = placements.FindCrowded();
  std::vector<size_t> wishing;
  if (heeds_peers) wishing = FindWishing(context->state, placements.all());
  int64_t moved = 0;
  if (!crowded.empty() || !wishing.empty()) {
    moved = Arranger(context, &placements, &work).Run(wishing, crowded);
  }
  placements.Keep();
  return moved;
}

}  // namespace sluice
