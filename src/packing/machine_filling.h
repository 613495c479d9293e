// The most valuable filling of one machine: a bounded knapsack problem with one
// dimension per resource.
//
// Branch and bound over the classes by value per size.  Size is a weighted sum
// of the shares that a task takes of what is free (a surrogate constraint;
// Kellerer, Pferschy and Pisinger: Knapsack Problems, 2004, chapter 9).  The
// weights minimize the value of the fractional filling, which is thus a bound.
// If a class needs company, the search puts a task that is company there before
// the first task of the class.
//
// Threads: none.  Determinism: the same calls give the same fillings.

#ifndef SLUICE_PACKING_MACHINE_FILLING_H_
#define SLUICE_PACKING_MACHINE_FILLING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

struct Filling {
  std::vector<std::pair<size_t, int64_t>> tasks;  // Class and count, ascending.
  double value = 0;
  double bound = 0;  // No filling is worth more, rounding included.
};

class MachineFilling {
 public:
  // `problem` must outlive this.
  explicit MachineFilling(const PackingProblem& problem);

  // Fills a machine of the group.  Each of the counts[c] tasks of class c is
  // worth values[c], or moved[c] <= values[c] if it must move there.  If
  // `moved` is empty, moves cost nothing.
  enum class Effort {
    kRough,  // A good filling; value and bound may differ.
    kExact,  // As long as it takes, within reason.
  };
  Filling Fill(size_t group, std::span<const double> values,
               std::span<const int64_t> counts, Effort effort,
               std::span<const double> moved = {});

  // What a task of each class is worth by its size, if the most valuable
  // fractional filling of the group is full; 0 if all have room.
  std::vector<double> PricesBySize(size_t group, std::span<const double> values,
                                   std::span<const int64_t> counts);

  // Classes looked at over all calls.
  int64_t work() const { return work_; }

 private:
  struct Item {
    size_t task_class = 0;
    size_t row = 0;      // Its row in requests and shares.
    double value = 0;    // Per task.
    double size = 0;     // By the weights.
    double density = 0;  // Value per size.
    int64_t limit = 0;
    bool needs_company = false;
  };

  const int64_t* RequestOf(const Item& item) const {
    return &requests_[item.row * dimensions_];
  }
  void CollectItems(std::span<const double> values,
                    std::span<const double> moved,
                    std::span<const int64_t> counts);
  void CollectItem(size_t task_class, double value, int64_t count);
  // The same for a class whose running tasks are worth more there.
  void CollectMovable(size_t task_class, double value, double moved,
                      int64_t count);
  // The tasks of these counts of each item.
  std::vector<std::pair<size_t, int64_t>> TasksOf(
      std::span<const int64_t> counts) const;
  // Classes that are worth nothing or less themselves may be company.  Drops
  // items that can have none.
  void CollectCompany(std::span<const double> values,
                      std::span<const int64_t> counts);
  // True if `is_company` holds for any of the items that are company for it.
  template <class Condition>
  bool AnyCompany(const Item& item, Condition is_company) const;
  // Sets sizes by the weights, sorts, and returns the value of the fractional
  // filling.  Adds its share of each dimension to `used`, if not null.
  double Relax(std::span<const double> weights, std::vector<double>* used);
  void ChooseWeights(std::vector<double>* weights);
  double Fractional(size_t next, double room) const;
  // True if the items from `next` on may raise `value` above the best, if all
  // room went to the items worth most per size.
  bool MayBeat(size_t next, double value, double room) const;
  // A task of the class is now chosen, or (with -1) no longer is.
  void CountApart(size_t task_class, int change);
  void Search(size_t next, double value, double room);
  // The part of Search() with `least` or more of the next item.
  void SearchCounts(size_t next, double value, double room, int64_t least,
                    double bound);
  // The same beside each item that would be company for `lonely`.  That is the
  // next item, or one that was chosen as company and lacks company itself.
  void SearchWithCompany(size_t next, size_t lonely, double value, double room,
                         double bound);
  // How many more of the item fit beside what is chosen.
  int64_t RoomFor(size_t item) const;
  // True if one more fits.
  bool HasRoomFor(size_t item) const {
    return chosen_[item] < items_[item].limit && FitsBesides(items_[item]);
  }
  // The same regardless of its limit.
  bool FitsBesides(const Item& item) const;
  void Choose(size_t item, int64_t count);
  // True if the item has the company that it needs.
  bool HasCompany(size_t item) const;
  // True if it has, or may get some from `next` on.
  bool MayHaveCompany(size_t item, size_t next) const;
  // Looks at all fillings, by dynamic programming over the amounts in use, if
  // at most two dimensions bind and their grid is small.  It ignores limits on
  // tasks and which must be apart or together, so it finds a bound, and the
  // best filling if that happens to be allowed.
  void FillByGrid(Filling* filling);
  // True if these counts of each item may be together.
  bool IsAllowed(std::span<const int64_t> counts) const;
  // The dimensions that may run out, if at most two.
  bool FindBinding(std::vector<size_t>* binding) const;

  const PackingProblem& problem_;
  const size_t dimensions_;
  const bool has_company_;                    // True if any class needs it.
  std::vector<std::vector<double>> weights_;  // By group: from the last call.
  int64_t work_ = 0;

  // State of the running call.
  const PackingGroup* group_ = nullptr;
  std::vector<Item> items_;
  // By row, then dimension: what a task takes, in units and as a share of what
  // is free.
  std::vector<int64_t> requests_;
  std::vector<double> shares_;
  std::vector<int64_t> left_;
  std::vector<int64_t> chosen_;                 // By item.
  std::vector<std::optional<size_t>> item_of_;  // By class.
  // By class: the number of chosen classes from which it must be apart.
  std::vector<int> apart_;
  std::vector<int64_t> best_;
  double best_value_ = 0;
  double open_bound_ = 0;  // Of what the search cut off.
  int64_t nodes_left_ = 0;
  int64_t work_left_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MACHINE_FILLING_H_
