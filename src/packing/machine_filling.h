// The most valuable filling of one machine: a bounded knapsack problem in as
// many dimensions as there are resources.
//
// Branch and bound over the classes by value per size, where size is a weighted
// sum of the shares that a task takes of what is free (a surrogate constraint;
// Kellerer, Pferschy and Pisinger: Knapsack Problems, 2004, chapter 9).  The
// weights are those under which the fractional filling is worth the least, so
// that its value is a bound.  Where a class needs company, the search puts a
// task there that is company before the first of the class.
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

  // Fills a machine of the group: a task of class c is worth values[c], or
  // moved[c] where it moves there, which is no more, and there are counts[c] of
  // it.  Where `moved` is empty moves cost nothing.
  enum class Effort {
    kRough,  // A good filling; value and bound may differ.
    kExact,  // As long as it takes, within reason.
  };
  Filling Fill(size_t group, std::span<const double> values,
               std::span<const int64_t> counts, Effort effort,
               std::span<const double> moved = {});

  // What a task of each class is worth by its size, where the most valuable
  // fractional filling of the group has no room left; 0 where all have room.
  std::vector<double> PricesBySize(size_t group, std::span<const double> values,
                                   std::span<const int64_t> counts);

  // Over all calls: classes looked at.
  int64_t work() const { return work_; }

 private:
  struct Item {
    size_t task_class = 0;
    size_t row = 0;      // Of the requests and shares.
    double value = 0;    // Of one task.
    double size = 0;     // By the weights.
    double density = 0;  // Value by size.
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
  // The same for a class of which the tasks that run there are worth more.
  void CollectMovable(size_t task_class, double value, double moved,
                      int64_t count);
  // The tasks of so many of each item.
  std::vector<std::pair<size_t, int64_t>> TasksOf(
      std::span<const int64_t> counts) const;
  // Classes that are worth nothing themselves, or less, may be company.  What
  // can have none is left out.
  void CollectCompany(std::span<const double> values,
                      std::span<const int64_t> counts);
  // Whether `is_company` holds for any of the items that are company for it.
  template <class Condition>
  bool AnyCompany(const Item& item, Condition is_company) const;
  // Sets sizes by the weights, sorts, and returns what the fractional filling
  // is worth.  Adds to `used` its share of each dimension, if not null.
  double Relax(std::span<const double> weights, std::vector<double>* used);
  void ChooseWeights(std::vector<double>* weights);
  double Fractional(size_t next, double room) const;
  // Whether the items from `next` on may make more of `value` than the best, if
  // all room went to what is worth the most by its size.
  bool MayBeat(size_t next, double value, double room) const;
  // There is a task of the class, or (with -1) no longer one.
  void CountApart(size_t task_class, int change);
  void Search(size_t next, double value, double room);
  // What Search() looks at with `least` or more of the next item.
  void SearchCounts(size_t next, double value, double room, int64_t least,
                    double bound);
  // The same beside each item that would be company for `lonely`, which is the
  // next item, or one that was chosen as company and lacks company itself.
  void SearchWithCompany(size_t next, size_t lonely, double value, double room,
                         double bound);
  // How many more of the item fit beside what is chosen.
  int64_t RoomFor(size_t item) const;
  // Whether one more does.
  bool HasRoomFor(size_t item) const {
    return chosen_[item] < items_[item].limit && FitsBesides(items_[item]);
  }
  // The same whatever its limit.
  bool FitsBesides(const Item& item) const;
  void Choose(size_t item, int64_t count);
  // Whether the item has the company that it needs.
  bool HasCompany(size_t item) const;
  // Whether it has, or may have some of those from `next` on.
  bool MayHaveCompany(size_t item, size_t next) const;
  // Looks at all fillings, by dynamic programming over the amounts in use,
  // where at most two dimensions bind and their grid is small.  Does not mind
  // how many tasks there are, nor which are to be apart or together, so that
  // what it finds is a bound; and the best filling where it happens to be one.
  void FillByGrid(Filling* filling);
  // Whether there may be so many of each item, side by side.
  bool IsAllowed(std::span<const int64_t> counts) const;
  // The dimensions that may run out, if they are two at most.
  bool FindBinding(std::vector<size_t>* binding) const;

  const PackingProblem& problem_;
  const size_t dimensions_;
  const bool has_company_;                    // Whether any class needs it.
  std::vector<std::vector<double>> weights_;  // By group: of the last call.
  int64_t work_ = 0;

  // Of the running call.
  const PackingGroup* group_ = nullptr;
  std::vector<Item> items_;
  // By row, then dimension: what a task takes, and as a share of what is free.
  std::vector<int64_t> requests_;
  std::vector<double> shares_;
  std::vector<int64_t> left_;
  std::vector<int64_t> chosen_;                 // By item.
  std::vector<std::optional<size_t>> item_of_;  // By class.
  // By class: from how many of the chosen classes it is to be apart.
  std::vector<int> apart_;
  std::vector<int64_t> best_;
  double best_value_ = 0;
  double open_bound_ = 0;  // Of what the search left out.
  int64_t nodes_left_ = 0;
  int64_t looks_left_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MACHINE_FILLING_H_
