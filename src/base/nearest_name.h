// What a user who typed an unknown name may have meant.
//
// Threads: free functions without state.

#ifndef SLUICE_BASE_NEAREST_NAME_H_
#define SLUICE_BASE_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The name that is nearest to `typed`: the first with the fewest letters to
// insert, remove, replace or swap with the next one.  Empty if even that takes
// more than two, or more than a third of the letters.  A name that begins with
// `typed` is also near if `typed` has three letters or more.
std::string NearestName(std::string_view typed,
                        const std::vector<std::string>& names);

// "; did you mean 'status'?", with the result of NearestName(); or empty.
std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string>& names);

}  // namespace sluice

#endif  // SLUICE_BASE_NEAREST_NAME_H_
