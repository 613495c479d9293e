// What a task demands of a machine's labels and name: whether it holds, and in
// words.
//
// Kubernetes' rules: a machine without the label satisfies kNotIn and
// kDoesNotExist only, and what cannot be compared does not match.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_LABEL_MATCH_H_
#define SLUICE_CONSTRAINTS_LABEL_MATCH_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/state/machine.h"

namespace sluice {

// The one field that terms know: a machine's name.
inline constexpr std::string_view kMetadataName = "metadata.name";

// A decimal integer of 64 bits, as Go's strconv.ParseInt(text, 10, 64) reads
// it: digits after an optional sign, and nothing else.
std::optional<int64_t> ParseInt64(std::string_view text);

// Whether a label of `value` (null: no such label) is as required.
bool Holds(const LabelRequirement& requirement, const std::string* value);

// Whether every requirement holds on the machine, if there are any.
bool Matches(const NodeTerm& term, const Machine& machine);

// For people: "disk=ssd", "disk in (hdd,ssd)", "!gpu", "cpus > 8".  The texts
// below are of bounded length: of long lists they show the beginning.
std::string RequirementText(const LabelRequirement& requirement);

// "disk=ssd and !gpu or zone=b": terms ORed, requirements ANDed.
std::string TermsText(std::span<const NodeTerm> terms);

// What the machine lacks for all of `labels` to hold, or to match one of
// `terms`: "lacks the label disk=ssd".  REQUIRES: it does lack something.
std::string LacksText(std::span<const LabelRequirement> labels,
                      const Machine& machine);
std::string LacksText(std::span<const NodeTerm> terms, const Machine& machine);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_LABEL_MATCH_H_
