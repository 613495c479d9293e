// Texts for what a task says about other tasks.  They are of bounded length:
// they show the beginning of long lists.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_PEER_TEXT_H_
#define SLUICE_CONSTRAINTS_PEER_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include "sluice/state/peer_terms.h"

namespace sluice {

// "app=web and !canary of namespace shop", "any task of any namespace", "job
// web-*".
std::string SelectorText(const TaskSelector& tasks);

// The tasks that all selectors select, and where: "app=web of namespace shop in
// the same zone", "job web-* on the same machine".
std::string PeersText(std::span<const TaskSelector> selectors,
                      std::string_view topology_key);

// "app=web of namespace shop over zone with maxSkew 1".
std::string SpreadText(const SpreadConstraint& spread);

// "at least 2 of app=web of namespace shop in each zone".
std::string MinimumText(const DomainMinimum& minimum);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_PEER_TEXT_H_
