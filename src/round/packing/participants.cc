#include "round/packing/participants.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "round/packing/turn_choice.h"

namespace sluice {

Participants::Participants(PackingScope scope,
                           std::span<const Placement> placements,
                           bool heeds_terms, RoundContext* context)
    : scope_(scope), context_(*context) {
  const bool is_preempting = scope == PackingScope::kPreempting;
  peers_.emplace(context->state, context->constraints, placements,
                 PackingPeers::Scope{.heeds_terms = heeds_terms,
                                     .is_preempting = is_preempting,
                                     .budget = &context->budget});
  if (is_preempting && heeds_terms) TakeTurn(placements);
  if (scope != PackingScope::kAll) FindGangs(placements);
}

void Participants::TakeTurn(std::span<const Placement> placements) {
  std::optional<PackingTurn>& turn = context_.agenda.turn;
  if (!turn.has_value()) turn = ChooseTurn(&context_, &*peers_);
  has_turns_ = turn->is_any;
  if (turn->gang.has_value()) {
    const auto learn = [&](std::optional<JobId> gang) {
      peers_.emplace(
          context_.state, context_.constraints, placements,
          PackingPeers::Scope{
              .is_preempting = true, .gang = gang, .budget = &context_.budget});
    };
    learn(turn->gang);
    // Classes that its turn does not help do not get in the way of others.
    if (IsHeeded(*turn->gang)) {
      for (const auto& [key, tasks] : context_.state.pending()) {
        if (key.gang != turn->gang) continue;
        turn_priority_ = std::max(turn_priority_.value_or(0), key.priority);
      }
    } else {
      learn(std::nullopt);
    }
  }
  // If a packing puts a task beside a waiting one, no task is stopped for it.
  // So every other packing must make do with running company.
  if (IsAnyCompanyWaiting()) {
    has_turns_ = true;
    if (turn->cycle % 2 == 1) peers_->LeaveOutWaitingCompany();
  }
  if (!turn->key || !context_.state.pending().contains(*turn->key)) return;
  lone_ = turn->key;
  turn_priority_ = lone_->priority;
  peers_->TakeOneOf(*lone_);
}

bool Participants::IsAnyCompanyWaiting() {
  const auto& pending = context_.state.pending();
  absl::flat_hash_set<uint32_t> needed;
  for (const auto& [key, tasks] : pending) {
    if (key.rules->affinity.empty() || !peers_->IsHeeded(key)) continue;
    const PeerTerms& terms = context_.state.peers().TermsOf(*key.rules);
    needed.insert(terms.affinity.front()->selector);
  }
  return !needed.empty() &&
         std::ranges::any_of(pending, [&](const auto& entry) {
           return std::ranges::any_of(
               *entry.first.meant_by,
               [&](uint32_t selector) { return needed.contains(selector); });
         });
}

bool Participants::IsHeeded(JobId gang) {
  return std::ranges::all_of(context_.state.pending(), [&](const auto& entry) {
    return entry.first.gang != gang || peers_->IsHeeded(entry.first);
  });
}

void Participants::FindGangs(std::span<const Placement> placements) {
  struct Found {
    int64_t tasks = 0;
    int64_t minimum = 0;
    bool is_included = true;
  };
  std::map<JobId, Found> all;
  const auto add = [&](const ClassKey& key, int64_t tasks) {
    if (!context_.gangs.MayBeUndone(key)) return;
    Found& found = all[*key.gang];
    found.tasks += tasks;
    found.minimum = std::max(found.minimum, context_.gangs.MinimumFor(key));
    found.is_included =
        found.is_included && peers_->IsHeeded(key) && !IsMeek(key);
  };
  for (const auto& [key, tasks] : context_.state.pending()) {
    if (key.gang.has_value()) add(key, context_.CountWaiting(key));
  }
  for (const Placement& one : placements) add(one.task->class_key, 1);
  for (const auto& [job, found] : all) {
    // In a gang that needs only one, each task is decided on by itself.
    const bool is_torn = !found.is_included && found.minimum > 1;
    if (is_torn || (scope_ == PackingScope::kPreempting &&
                    context_.agenda.without().contains(job))) {
      torn_gangs_.insert(job);
    } else if (found.tasks >= found.minimum) {
      gangs_[job] = found.minimum;
    }
  }
}

bool Participants::Include(const ClassKey& key) {
  if (scope_ == PackingScope::kAll) return true;
  return (peers_->IsHeeded(key) || peers_->IsTakenAlone(key)) && !IsMeek(key) &&
         !(key.gang.has_value() && torn_gangs_.contains(*key.gang));
}

}  // namespace sluice
