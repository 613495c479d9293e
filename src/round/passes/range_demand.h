// Which range of priorities can be placed together.
//
// If no task of some priorities has to wait, placing all of them together is as
// good for each as placing one after the other.  A range begins at the highest
// priority, and goes on until some of it must wait or must be decided by
// itself.  A task that fits nowhere waits in any case, and is in nobody's way.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PASSES_RANGE_DEMAND_H_
#define SLUICE_ROUND_PASSES_RANGE_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "round/context/round_context.h"
#include "round/passes/pass.h"
#include "sluice/state/resources.h"

namespace sluice {

struct RangeDemand {
  // The waiting classes that fit, in descending priority, with all their tasks.
  std::vector<BandMember> members;
  // The first priority below the range with a waiting task, or with which the
  // plan places one.
  std::optional<uint32_t> next;
  // True if that priority must be decided by itself: it has a fitting task that
  // depends on others, or more tasks than there is room for, or the plan places
  // with it a gang or tasks that need company.
  bool is_next_apart = false;
};

// Works in steps, as DemandSearch does.
class RangeSearch {
 public:
  struct Bounds {
    uint32_t highest = 0;
    uint32_t lowest = 0;
    size_t priorities_max = 0;  // With something that fits.
  };
  // `context` must outlive this.
  RangeSearch(const Bounds& bounds, RoundContext* context)
      : bounds_(bounds), context_(*context) {}

  // Returns true when it is done.  Otherwise commands should be let in.
  bool Continue();
  // REQUIRES: it is done.
  RangeDemand Take() { return std::move(demand_); }

 private:
  // Tasks that differ in priority alone.
  struct Shape {
    int64_t tasks = 0;  // Of the range.
    int64_t fit = 0;    // At least; exactly once all was seen.
    size_t kinds_seen = 0;
    size_t groups_seen = 0;  // Of the next kind.
  };

  enum class Verdict { kAdded, kIsBound, kHasNoRoom };

  void Restart();
  // The most urgent tier of the plan within the bounds that must be decided by
  // itself: only its own stages ensure that gangs are whole and that tasks have
  // their company.
  std::optional<uint32_t> FindTierApart() const;
  // True if its tasks are so varied that one pass for all of them takes longer
  // than one per few.
  bool IsTooVaried() const;
  void DropTooVaried();
  // Adds what fits of the next priority, unless there is a reason not to.
  // Nullopt: commands should be let in before it goes on.
  std::optional<Verdict> Add();
  // Looks until there is enough room for `tasks`, or no more room is found.
  void FindRoom(const ClassKey& key, int64_t tasks, Shape* shape);

  const Bounds bounds_;
  RoundContext& context_;
  std::optional<uint64_t> version_;  // Of the state when it was looked at.
  int restarts_ = -1;                // The start makes it 0.
  std::optional<uint32_t> tier_apart_;
  uint32_t next_ = 0;
  std::optional<ClassKey> last_;  // The last class that was looked at.
  // What fits of the next priority so far.
  std::vector<std::pair<BandMember, Shape*>> added_;
  Resources added_request_;
  size_t priorities_ = 0;  // With something that fits.
  size_t shapes_used_ = 0;
  size_t alike_ = 0;  // Members whose shapes are few.
  std::vector<std::vector<size_t>> groups_of_kind_;
  std::vector<Resources> most_of_kind_;  // Free on any, by resource.
  Resources free_;                       // On all machines.
  Resources cluster_;
  Resources request_;                 // Of the range.
  std::map<ClassKey, Shape> shapes_;  // Of the lowest priority so far.
  RangeDemand demand_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_RANGE_DEMAND_H_
