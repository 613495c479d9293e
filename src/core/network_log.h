// The networks of the newest round that solved any, as they were solved, for
// people to read.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_NETWORK_LOG_H_
#define SLUICE_CORE_NETWORK_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "network/node_meaning.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"

namespace sluice {

class NetworkLog {
 public:
  struct Pass {
    FlowProblem problem;
    // Its outcome says whether the pass was solved.
    FlowSolution solution;
    // Of a flow with gains this one.
    std::optional<GeneralizedSolution> with_gains = {};
    std::vector<NodeMeaning> nodes;
    std::vector<std::string> classes;  // By index: what they are.
  };

  // Keeps at most so many arcs and cost segments; 0: nothing.
  explicit NetworkLog(int64_t arcs_max) : arcs_max_(arcs_max) {}

  // Whether the next pass of the round can be kept.  If not, it is counted.
  // Forgets the round before.
  bool HasRoomFor(const FlowProblem& problem, uint64_t round);
  void Open(const FlowProblem& problem, std::vector<NodeMeaning> nodes,
            std::vector<std::string> classes);
  // Of the pass that is open, if one is.
  void Close(const FlowSolution& solution);
  void Close(const GeneralizedSolution& solution);

  int64_t arcs_max() const { return arcs_max_; }
  uint64_t round() const { return round_; }
  const std::vector<Pass>& passes() const { return passes_; }
  int64_t left_out() const { return left_out_; }

 private:
  const int64_t arcs_max_;
  uint64_t round_ = 0;
  std::vector<Pass> passes_;
  int64_t arcs_ = 0;      // And segments, of these.
  int64_t left_out_ = 0;  // Passes that there was no room for.
  bool is_open_ = false;
};

}  // namespace sluice

#endif  // SLUICE_CORE_NETWORK_LOG_H_
