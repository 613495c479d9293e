// Pages of the lists of sluice.v1.Inspector.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_PAGES_H_
#define SLUICE_RPC_PAGES_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/limits.h"
#include "base/strings.h"
#include "google/protobuf/message.h"
#include "rpc/checks.h"

namespace sluice {

// The whole text as a decimal number, or nullopt.
template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

// The number of entries on a page if so many were asked for.
// Errors: kInvalidArgument for a negative size.
inline absl::StatusOr<int> PageSize(int32_t asked) {
  if (asked < 0) {
    return absl::InvalidArgumentError(StrCat("page_size: ", asked, " < 0"));
  }
  return asked == 0 ? kPageSizeMax : std::min<int>(asked, kPageSizeMax);
}

// The room that is left on a page.
class PageRoom {
 public:
  explicit PageRoom(int entries) : entries_left_(entries) {}

  // Never true before the first entry.
  bool IsFull() const { return entries_left_ == 0 || bytes_ >= kPageBytesMax; }
  void Add(const google::protobuf::Message& entry) {
    --entries_left_;
    bytes_ += entry.ByteSizeLong();
  }

 private:
  int entries_left_;
  size_t bytes_ = 0;
};

inline absl::Status NoPageToken(std::string_view token) {
  return absl::InvalidArgumentError(
      StrCat("page_token: ", Quoted(token), " is not a token"));
}

}  // namespace sluice

#endif  // SLUICE_RPC_PAGES_H_
