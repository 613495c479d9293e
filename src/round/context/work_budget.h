// How much work a round may still do, and how much it has done since it last
// let commands in.
//
// Work is counted and not timed, so that a round is the same wherever it runs.
// A unit is about a look at a machine, a task or an arc: some ten nanoseconds.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_ROUND_CONTEXT_WORK_BUDGET_H_
#define SLUICE_ROUND_CONTEXT_WORK_BUDGET_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace sluice {

// The cost of making a placement or taking it back.
inline constexpr int64_t kWorkPerPlacement = 40;
// After this much work commands are let in: some 20 ms.
inline constexpr int64_t kWorkPerStep = 1'000'000;

// What a round spends work on, each with a budget of its own.
enum class Effort : uint8_t {
  kPasses,        // Networks, in arcs.
  kImprovements,  // Packings and proofs, which the solver thread does.
  kSearches,      // Task by task, through all machines.
  kCompanions,    // round/search/companions.h
  kVictims,       // Whether victims may stay after all (stages/spare.h).
};

// A piece of work that has a limit of its own beside these.
enum class Piece : uint8_t {
  kReservations,   // Of one round (round/reservations.h).
  kTurns,          // Whom a packing leaves out (round/packing/turn_choice.h).
  kTerms,          // Of the rules that a packing heeds.
  kLoneNewcomers,  // Whom it would drive out (round/together/lone_newcomer.h).
  kFreeRoom,       // Exchanges within one plan (round/plans/free_room.h).
  kDisplacements,  // Of one round (round/plans/displacement.h).
  kArrangement,    // Of one round (round/search/arrangement.h).
  kNeighborhood,   // What is decided on together in a tier, and
  kNeighborhoodSearch,  // deciding on it.
  kPackingOfPart,       // Of some machines; the solver thread does it.
};

class WorkBudget {
 public:
  struct Limits {
    int64_t arcs_max = 0;  // 0: no limit.
    int64_t improvements = 0;
    // The share of `improvements` that one packing of many unlike machines may
    // take.
    int64_t nearby = 0;
  };
  explicit WorkBudget(const Limits& limits) : nearby_(limits.nearby) {
    Of(Effort::kPasses) = limits.arcs_max > 0
                              ? limits.arcs_max
                              : std::numeric_limits<int64_t>::max();
    Of(Effort::kImprovements) = limits.improvements;
    // Some 50 ms.  Without improvements there are no searches either.
    Of(Effort::kSearches) = limits.improvements > 0 ? 500'000 : 0;
    // Some 10 ms each.
    Of(Effort::kCompanions) = 400'000;
    Of(Effort::kVictims) = 400'000;
  }

  // Beyond it, what is left of the piece is not done in this round.
  static constexpr int64_t LimitOf(Piece piece) {
    switch (piece) {
      case Piece::kNeighborhoodSearch:
        return 50'000;
      case Piece::kReservations:
      case Piece::kFreeRoom:
      case Piece::kNeighborhood:
        return 200'000;
      case Piece::kDisplacements:
        return 400'000;
      case Piece::kTurns:
        return 500'000;
      case Piece::kTerms:
      case Piece::kLoneNewcomers:
      case Piece::kArrangement:
      case Piece::kPackingOfPart:
        return 1'000'000;
    }
    return 0;
  }

  int64_t Left(Effort effort) const {
    return left_[static_cast<size_t>(effort)];
  }
  bool IsSpent(Effort effort) const { return Left(effort) <= 0; }
  int64_t nearby() const { return nearby_; }

  // The last piece of work may exceed the budget.
  void Spend(Effort effort, int64_t work) {
    Of(effort) -= work;
    if (effort != Effort::kImprovements) in_step_ += work;
  }
  // Counts work that needs no limit.
  void Note(int64_t work) { in_step_ += work; }

  // Since the step began, without the work of the solver thread.
  int64_t in_step() const { return in_step_; }
  bool IsStepOver() const { return in_step_ > kWorkPerStep; }
  void BeginStep() { in_step_ = 0; }

 private:
  int64_t& Of(Effort effort) { return left_[static_cast<size_t>(effort)]; }

  std::array<int64_t, 5> left_ = {};
  int64_t nearby_;
  int64_t in_step_ = 0;
};

// What a piece of work may take.  What it takes counts for the step.
class Allowance {
 public:
  // `budget` must outlive it.  Null: there is no step.
  Allowance(Piece piece, WorkBudget* budget)
      : left_(WorkBudget::LimitOf(piece)), budget_(budget) {}
  // Also charges `effort`, and may take no more than is left of that.
  Allowance(Piece piece, Effort effort, WorkBudget* budget)
      : left_(std::min(WorkBudget::LimitOf(piece), budget->Left(effort))),
        budget_(budget),
        effort_(effort) {}
  // Of any size, without a step.
  explicit Allowance(int64_t work) : left_(work) {}

  int64_t left() const { return left_; }
  bool IsSpent() const { return left_ <= 0; }
  bool IsExceeded() const { return left_ < 0; }
  // The last work may exceed it.  Returns false if it is exceeded.
  bool Spend(int64_t work) {
    left_ -= work;
    if (effort_.has_value()) {
      budget_->Spend(*effort_, work);
    } else if (budget_ != nullptr) {
      budget_->Note(work);
    }
    return left_ >= 0;
  }

 private:
  int64_t left_;
  WorkBudget* budget_ = nullptr;
  std::optional<Effort> effort_ = {};
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_WORK_BUDGET_H_
