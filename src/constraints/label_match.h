// What a task demands of a machine's labels and name: whether it holds, and in
// words.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_LABEL_MATCH_H_
#define SLUICE_CONSTRAINTS_LABEL_MATCH_H_

#include <span>
#include <string>
#include <string_view>

#include "sluice/state/machine.h"

namespace sluice {

// The field that clients may state beside kMachineId: a machine's name.
inline constexpr std::string_view kMetadataName = "metadata.name";

// Whether every requirement holds on the machine, if there are any.
bool Matches(const NodeTerm& term, const Machine& machine);

// For people: "disk=ssd", "disk in (hdd,ssd)", "!gpu", "cpus > 8".  The texts
// below are of bounded length: of long lists they show the beginning.
std::string RequirementText(const LabelRequirement& requirement);

// "disk=ssd and !gpu"; "(empty term)" where there are none.
std::string RequirementsText(std::span<const LabelRequirement> requirements);

// "disk=ssd and !gpu or zone=b": terms ORed, requirements ANDed.
std::string TermsText(std::span<const NodeTerm> terms);

// What the machine lacks for all of `labels` to hold, or to match one of
// `terms`: "lacks the label disk=ssd".  REQUIRES: it does lack something.
std::string LacksText(std::span<const LabelRequirement> labels,
                      const Machine& machine);
std::string LacksText(std::span<const NodeTerm> terms, const Machine& machine);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_LABEL_MATCH_H_
