// The rows of a packing problem.  A row says, for a kind of machines, what each
// class costs there, which classes have company from tasks that stay, and what
// runs there and may be stopped.  Equal rows are stored once.
//
// Threads: values.

#ifndef SLUICE_ROUND_PACKING_PACKING_ROWS_H_
#define SLUICE_ROUND_PACKING_PACKING_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "packing/packing_problem.h"

namespace sluice {

class PackingRows {
 public:
  // How many of each class run there, by ascending class.
  using Staying = std::vector<std::pair<size_t, int64_t>>;

  // `problem` must outlive this and must have no other rows.
  explicit PackingRows(PackingProblem* problem) : problem_(*problem) {}

  // The index of this row, which is added if it is new.
  size_t Of(std::vector<int64_t> costs, std::vector<size_t> company,
            Staying staying = {}) {
    const auto [it, is_new] = index_.try_emplace(
        Row{std::move(costs), std::move(company), std::move(staying)},
        problem_.costs.size());
    if (is_new) {
      problem_.costs.push_back(std::get<0>(it->first));
      problem_.company.push_back(std::get<1>(it->first));
      problem_.staying.push_back(std::get<2>(it->first));
    }
    return it->second;
  }

  // The row's copy with what runs there.  REQUIRES: the given row has nothing
  // running.
  size_t Beside(size_t row, Staying staying) {
    const auto [it, is_new] =
        beside_.try_emplace(std::pair(row, std::move(staying)), 0);
    if (is_new) {
      it->second =
          Of(problem_.costs[row], problem_.company[row], it->first.second);
    }
    return it->second;
  }

 private:
  using Row = std::tuple<std::vector<int64_t>, std::vector<size_t>, Staying>;

  PackingProblem& problem_;
  absl::flat_hash_map<Row, size_t> index_;
  // Caches the copies: thousands of machines ask for one, and rows are long.
  absl::flat_hash_map<std::pair<size_t, Staying>, size_t> beside_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_PACKING_ROWS_H_
