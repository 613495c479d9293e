// A pass's network as other programs read it.
//
// Threads: pure functions.

#ifndef SLUICE_CLI_CLIENT_NETWORK_TEXT_H_
#define SLUICE_CLI_CLIENT_NETWORK_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sluice/flow/problem.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

// The parts of a point of the policies that arcs cost in.
inline constexpr int kPartsOfPoint = 128;

// What was solved.  Errors: kInvalidArgument where an arc names a node that is
// not there, or has no segment.
absl::StatusOr<FlowProblem> ProblemOf(const v1::RoundNetwork::Pass& pass);

// For `sluicectl solve` and other programs: the nodes' names are comments.
absl::StatusOr<std::string> DimacsOf(const v1::RoundNetwork::Pass& pass);

// For Graphviz: costs are points, and arcs without flow are grey.
std::string DotOf(const v1::RoundNetwork::Pass& pass, std::string_view name);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_NETWORK_TEXT_H_
