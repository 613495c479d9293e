// Text: StrCat joins, Printable makes foreign bytes safe to show.
//
// Why not absl::StrCat: where absl is built with a string_view of its own, as
// on Debian, it does not accept std::string_view, which our interfaces use.
//
// Threads: free functions without state.

#ifndef SLUICE_BASE_STRINGS_H_
#define SLUICE_BASE_STRINGS_H_

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice {

// std::string, std::string_view, absl::string_view and the like.
template <class T>
concept StringLike = requires(const T& text) {
  { text.data() } -> std::convertible_to<const char*>;
  { text.size() } -> std::convertible_to<size_t>;
};

// The number types that are written in digits.
template <class T>
concept Number =
    std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// One argument of StrCat.  Lives for the call only; numbers are written into
// its own buffer, so it is neither copied nor moved.
class StrCatPiece {
 public:
  explicit StrCatPiece(const char* text) : text_(text) {}

  template <StringLike T>
  explicit StrCatPiece(const T& text) : text_(text.data(), text.size()) {}

  // Templates, so that no pointer or int silently becomes a bool or a char.
  template <std::same_as<bool> T>
  explicit StrCatPiece(T value) : text_(value ? "true" : "false") {}

  template <std::same_as<char> T>
  explicit StrCatPiece(T value) : buffer_{value}, text_(buffer_.data(), 1) {}

  // Floating-point numbers take the shortest form that reads back as the same.
  template <Number T>
  explicit StrCatPiece(T value) {
    const auto result =
        std::to_chars(buffer_.data(), buffer_.data() + buffer_.size(), value);
    text_ = std::string_view(buffer_.data(), result.ptr);
  }

  StrCatPiece(const StrCatPiece&) = delete;
  StrCatPiece& operator=(const StrCatPiece&) = delete;

  std::string_view text() const { return text_; }

 private:
  // The longest double takes 24 bytes, the longest integer 20.
  std::array<char, 32> buffer_;
  std::string_view text_;
};

// Joins the texts with nothing in between.
std::string Concatenate(std::initializer_list<StrCatPiece> pieces);

// Joins texts, integers, bools ("true"), chars and floating-point numbers.
template <class... Args>
std::string StrCat(const Args&... args) {
  return Concatenate({StrCatPiece(args)...});
}

// `text` in printable ASCII for a log line or an error: a backslash, a control
// byte and a byte above 126 become \\, \n, \t or \xNN.  Of a text longer than
// `max_bytes` only the beginning is shown, then its size:
// "abc..., 10485760 bytes".  The result has at most 4 * max_bytes + 32 bytes.
std::string Printable(std::string_view text, size_t max_bytes);

}  // namespace sluice

#endif  // SLUICE_BASE_STRINGS_H_
