// How far down the priorities can be placed together.
//
// Where nothing of some priorities has to wait, placing all of them in one go
// serves each as well as one after the other does.  A range of priorities
// begins at the highest and goes on as long as nothing says that some of it
// must wait, or must be decided by itself.  What fits nowhere waits whatever
// is done, and is in nobody's way.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_RANGE_DEMAND_H_
#define SLUICE_CORE_RANGE_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/pass.h"
#include "core/round_context.h"
#include "sluice/state/resources.h"

namespace sluice {

struct RangeDemand {
  // The classes that wait and fit, by falling priority, with all their tasks.
  std::vector<BandMember> members;
  // The first priority below the range of which something waits, or with which
  // the plan places something that waits.
  std::optional<uint32_t> next;
  // Whether that has to be decided by itself: it has a task that fits and is
  // bound to others, or more tasks than there is room for, or the plan places a
  // gang with it, or tasks that need company.
  bool is_next_apart = false;
};

// Finds it in steps, as DemandSearch does.
class RangeSearch {
 public:
  struct Bounds {
    uint32_t highest = 0;
    uint32_t lowest = 0;
    size_t priorities_max = 0;  // Of which something fits.
  };
  // `context` must outlive this.
  RangeSearch(const Bounds& bounds, RoundContext* context)
      : bounds_(bounds), context_(*context) {}

  // Returns whether it is done; else commands should be let in.
  bool Continue();
  // REQUIRES: it is done.
  RangeDemand Take() { return std::move(demand_); }

 private:
  // Tasks that nothing but their priorities tells apart.
  struct Shape {
    int64_t tasks = 0;  // Of the range.
    int64_t fit = 0;    // So many at least, and no more once all was seen.
    size_t kinds_seen = 0;
    size_t groups_seen = 0;  // Of the next kind.
  };

  enum class Verdict { kAdded, kIsBound, kHasNoRoom };

  void Restart();
  // The most urgent tier of the plan, within the bounds, that has to be decided
  // by itself: only its own stages see to it that gangs are whole, and that
  // those who need company have it.
  std::optional<uint32_t> FindTierApart() const;
  // Whether its tasks are so different that a pass for all of them takes longer
  // than one for each few.
  bool IsTooVaried() const;
  void DropTooVaried();
  // Adds what fits of the next priority, unless there is a reason not to.
  // Nothing: commands should be let in before it goes on.
  std::optional<Verdict> Add();
  // Looks for room until there is enough for `tasks`, or no more.
  void FindRoom(const ClassKey& key, int64_t tasks, Shape* shape);

  const Bounds bounds_;
  RoundContext& context_;
  std::optional<uint64_t> version_;  // Of the state, as it was looked at.
  int restarts_ = -1;                // The first is the beginning.
  std::optional<uint32_t> tier_apart_;
  uint32_t next_ = 0;
  std::optional<ClassKey> last_;  // The last class that was looked at.
  // What fits of the next priority, so far.
  std::vector<std::pair<BandMember, Shape*>> added_;
  Resources added_request_;
  size_t priorities_ = 0;  // Of which something fits.
  size_t shapes_used_ = 0;
  size_t alike_ = 0;  // The members of no more than a few shapes.
  std::vector<std::vector<size_t>> groups_of_kind_;
  std::vector<Resources> most_of_kind_;  // Of each resource what any has free.
  Resources free_;                       // On all machines.
  Resources cluster_;
  Resources request_;                 // Of the range.
  std::map<ClassKey, Shape> shapes_;  // Of the lowest priority there is.
  RangeDemand demand_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_RANGE_DEMAND_H_
