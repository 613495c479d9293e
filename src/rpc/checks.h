// Checks that conversions share, with their error texts.
//
// Threads: pure functions and values.

#ifndef SLUICE_RPC_CHECKS_H_
#define SLUICE_RPC_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/strings.h"

namespace sluice {

// How much of a text from outside a message for people shows.
inline constexpr size_t kShownBytes = 64;

inline std::string Quoted(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

inline absl::Status Invalid(const std::string& text) {
  return absl::InvalidArgumentError(text);
}

inline absl::Status CheckSize(std::string_view what, std::string_view text,
                              size_t bytes_max) {
  if (text.size() <= bytes_max) return absl::OkStatus();
  return Invalid(StrCat(what, ": ", text.size(), " bytes, at most ", bytes_max,
                        " are allowed"));
}

// What cannot be understood in one description.
class Faults {
 public:
  void Add(std::string text) {
    if (++count_ == 1) first_ = std::move(text);
  }
  bool empty() const { return count_ == 0; }
  // The first one, and how many more there are; "" if there is none:
  // "requirement on 'gpu': operator 'Has' is unknown (and 2 more)".
  std::string Text() const {
    return count_ < 2 ? first_ : StrCat(first_, " (and ", count_ - 1, " more)");
  }

 private:
  int64_t count_ = 0;
  std::string first_;  // A description may have many: the rest is not kept.
};

// Collects items in ascending order, without duplicates, up to a bound.
template <class T>
class Ascending {
 public:
  // `what` names them in errors; it must outlive this.
  Ascending(std::string_view what, size_t max) : what_(what), max_(max) {}

  absl::Status Add(T item) {
    items_.insert(std::move(item));
    if (items_.size() <= max_) return absl::OkStatus();
    return Invalid(StrCat(what_, ": more than ", max_, " of them"));
  }

  std::vector<T> Take() {
    std::vector<T> result;
    result.reserve(items_.size());
    while (!items_.empty()) {
      result.push_back(std::move(items_.extract(items_.begin()).value()));
    }
    return result;
  }

 private:
  const std::string_view what_;
  const size_t max_;
  std::set<T> items_;
};

}  // namespace sluice

#endif  // SLUICE_RPC_CHECKS_H_
