// What a user may have meant who typed a name that there is not.
//
// Threads: free functions without state.

#ifndef SLUICE_BASE_NEAREST_NAME_H_
#define SLUICE_BASE_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Of `names` the one that is nearest to `typed`: the first with the fewest
// letters to insert, remove, replace or swap with the next one.  Empty if even
// that takes more than two, or more than a third of the letters.  A name that
// goes on where `typed` ends is near, too, from three letters on.
std::string NearestName(std::string_view typed,
                        const std::vector<std::string>& names);

// "; did you mean 'status'?", with what NearestName() finds; or empty.
std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string>& names);

}  // namespace sluice

#endif  // SLUICE_BASE_NEAREST_NAME_H_
