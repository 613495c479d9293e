// The network of a pass in the formats of other programs.
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

// How many units of an arc's cost are a point of the policies.
inline constexpr int kPartsOfPoint = 128;

// The problem that was solved.
// Errors: kInvalidArgument if an arc has no segment, or an end that is no node.
absl::StatusOr<FlowProblem> ProblemOf(const v1::RoundNetwork::Pass& pass);

// For `sluicectl solve` and other programs, with the nodes' names as comments.
absl::StatusOr<std::string> DimacsOf(const v1::RoundNetwork::Pass& pass);
// The same for other programs, without comments (WritePlainDimacs()).
absl::StatusOr<std::string> PlainDimacsOf(const v1::RoundNetwork::Pass& pass);

// For Graphviz: costs are points, and arcs without flow are gray.
std::string DotOf(const v1::RoundNetwork::Pass& pass, std::string_view name);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_NETWORK_TEXT_H_
