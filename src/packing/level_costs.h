// The cost of leaving tasks waiting, by level of urgency.
//
// Level 0 is the most urgent.  No cost of a level outweighs a level above it:
// costs are compared level by level, in that order.
//
// Threads: values.

#ifndef SLUICE_PACKING_LEVEL_COSTS_H_
#define SLUICE_PACKING_LEVEL_COSTS_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <span>
#include <vector>

namespace sluice {

class LevelCosts {
 public:
  LevelCosts() = default;
  // All of it on level 0.
  LevelCosts(int64_t cost) { Add(0, cost); }  // NOLINT: as good as a number.
  explicit LevelCosts(std::span<const int64_t> costs) {
    for (size_t level = costs.size(); level-- > 0;) Add(level, costs[level]);
  }

  // 0 if nothing was added.
  int64_t operator[](size_t level) const {
    return level < costs_.size() ? costs_[level] : 0;
  }
  void Add(size_t level, int64_t cost) {
    if (cost == 0) return;
    if (level >= costs_.size()) costs_.resize(level + 1, 0);
    costs_[level] += cost;
    while (!costs_.empty() && costs_.back() == 0) costs_.pop_back();
  }
  void Add(const LevelCosts& other) {
    for (size_t level = 0; level < other.size(); ++level) {
      Add(level, other[level]);
    }
  }
  // From this level on all costs are 0.
  size_t size() const { return costs_.size(); }

  // Over all levels.
  int64_t Sum() const {
    return std::accumulate(costs_.begin(), costs_.end(), int64_t{0});
  }
  // The costs of the first `level_count` levels.
  std::vector<int64_t> ByLevel(size_t level_count) const {
    std::vector<int64_t> costs(costs_.begin(), costs_.end());
    costs.resize(level_count, 0);
    return costs;
  }
  // True if no level costs more than in `other`.
  bool IsNowhereAbove(const LevelCosts& other) const {
    for (size_t level = 0; level < size(); ++level) {
      if (costs_[level] > other[level]) return false;
    }
    return true;
  }

  // For people who read a failure: "[0, 17]".
  friend std::ostream& operator<<(std::ostream& out, const LevelCosts& costs) {
    out << '[';
    for (size_t level = 0; level < costs.size(); ++level) {
      out << (level == 0 ? "" : ", ") << costs[level];
    }
    return out << ']';
  }
  friend bool operator==(const LevelCosts&, const LevelCosts&) = default;
  // Costs are not negative, so a missing level is the least.
  friend std::strong_ordering operator<=>(const LevelCosts& a,
                                          const LevelCosts& b) {
    return std::lexicographical_compare_three_way(
        a.costs_.begin(), a.costs_.end(), b.costs_.begin(), b.costs_.end());
  }

 private:
  std::vector<int64_t> costs_;  // The last is not 0.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_LEVEL_COSTS_H_
