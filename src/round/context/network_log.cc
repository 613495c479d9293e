#include "round/context/network_log.h"

#include <utility>

namespace sluice {

bool NetworkLog::HasRoomFor(const FlowProblem& problem, uint64_t round) {
  if (arcs_max_ == 0) return false;
  if (round != round_) {
    round_ = round;
    passes_.clear();
    arcs_ = 0;
    left_out_ = 0;
  }
  const int64_t arcs = problem.arc_count() + problem.segment_count();
  if (arcs > arcs_max_ - arcs_) {
    ++left_out_;
    return false;
  }
  arcs_ += arcs;
  return true;
}

void NetworkLog::Open(const FlowProblem& problem,
                      std::vector<NodeMeaning> nodes,
                      std::vector<std::string> classes) {
  passes_.push_back({.problem = problem,
                     .solution = {},
                     .nodes = std::move(nodes),
                     .classes = std::move(classes)});
  is_open_ = true;
}

void NetworkLog::Close(const FlowSolution& solution) {
  if (!std::exchange(is_open_, false)) return;
  passes_.back().solution = solution;
}

void NetworkLog::Close(const GeneralizedSolution& solution) {
  if (!std::exchange(is_open_, false)) return;
  passes_.back().with_gains = solution;
}

}  // namespace sluice
