// The networks of the newest round that solved any, as solved, for people to
// read.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_NETWORK_LOG_H_
#define SLUICE_ROUND_CONTEXT_NETWORK_LOG_H_

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
    // Set for a flow with gains.
    std::optional<GeneralizedSolution> with_gains = {};
    std::vector<NodeMeaning> nodes;
    std::vector<std::string> classes;  // Descriptions, by index.
  };

  // Keeps at most `arcs_max` arcs and cost segments; 0 keeps nothing.
  explicit NetworkLog(int64_t arcs_max) : arcs_max_(arcs_max) {}

  // True if the next pass of the round can be kept; if not, it is counted as
  // left out.  Forgets the round before.
  bool HasRoomFor(const FlowProblem& problem, uint64_t round);
  void Open(const FlowProblem& problem, std::vector<NodeMeaning> nodes,
            std::vector<std::string> classes);
  // Records the solution of the open pass, if any.
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
  int64_t arcs_ = 0;      // Arcs and segments of these.
  int64_t left_out_ = 0;  // Passes that did not fit.
  bool is_open_ = false;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_NETWORK_LOG_H_
