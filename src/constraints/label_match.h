// A task's demands on a machine's labels and name: whether they hold, and their
// texts.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_LABEL_MATCH_H_
#define SLUICE_CONSTRAINTS_LABEL_MATCH_H_

#include <span>
#include <string>
#include <string_view>

#include "sluice/state/machine.h"

namespace sluice {

// The field that clients may state besides kMachineId: a machine's name.
inline constexpr std::string_view kMetadataName = "metadata.name";

// True if every requirement holds on the machine and there are any.
bool Matches(const NodeTerm& term, const Machine& machine);

// For people: "disk=ssd", "disk in (hdd,ssd)", "!gpu", "cpus > 8".  The texts
// below are of bounded length: they show the beginning of long lists.
std::string RequirementText(const LabelRequirement& requirement);

// "disk=ssd and !gpu"; "(empty term)" if there are none.
std::string RequirementsText(std::span<const LabelRequirement> requirements);

// "disk=ssd and !gpu or zone=b": terms ORed, requirements ANDed.
std::string TermsText(std::span<const NodeTerm> terms);

// What the machine lacks for all of `labels` to hold, or to match one of
// `terms`: "lacks the label disk=ssd".  REQUIRES: it lacks something.
std::string LacksText(std::span<const LabelRequirement> labels,
                      const Machine& machine);
std::string LacksText(std::span<const NodeTerm> terms, const Machine& machine);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_LABEL_MATCH_H_
