// Arbitrary text as a problem in DIMACS format and as changes to it.
//
// Input: a problem; then, after a line of '%' alone, a file of changes. Nothing
// may crash, and what is read must be written and read back as the same, before
// and after each group of changes.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "flow/dimacs.h"
#include "flow/dimacs_changes.h"
#include "flow/validate.h"
#include "util/same_problem.h"

namespace sluice {
namespace {

void CheckRoundTrip(const FlowProblem& problem) {
  const absl::StatusOr<FlowProblem> again = ReadDimacs(WriteDimacs(problem));
  CHECK(again.ok()) << again.status();
  const absl::Status same = CheckSameProblem(problem, *again);
  CHECK(same.ok()) << same;
  // What may still be wrong with it must not crash this, at least.
  ValidateProblem(problem).IgnoreError();
}

void Run(std::string_view input) {
  constexpr std::string_view kSeparator = "%\n";
  const size_t end = std::min(input.find(kSeparator), input.size());
  absl::StatusOr<FlowProblem> problem = ReadDimacs(input.substr(0, end));
  if (!problem.ok()) {
    CHECK(!problem.status().message().empty());
    return;
  }
  CheckRoundTrip(*problem);
  input.remove_prefix(std::min(end + kSeparator.size(), input.size()));
  const absl::StatusOr<std::vector<DimacsChanges>> groups =
      ReadDimacsChanges(input, problem->node_count());
  if (!groups.ok()) return;
  DimacsChanger changer(&*problem);
  for (const DimacsChanges& changes : *groups) {
    if (!changer.Apply(changes).ok()) return;
    CheckRoundTrip(*problem);
  }
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
