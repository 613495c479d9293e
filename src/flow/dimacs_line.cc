#include "flow/dimacs_line.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// Enough of a bad field to recognize it.
constexpr size_t kShownBytes = 40;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

DimacsLine::DimacsLine(std::string_view* rest, int64_t number)
    : number_(number) {
  const size_t size = std::min(rest->find('\n'), rest->size());
  at_ = rest->data();
  end_ = at_ + size;
  rest->remove_prefix(std::min(size + 1, rest->size()));
}

bool DimacsLine::AtEnd() {
  while (at_ != end_ && IsBlank(*at_)) ++at_;
  return at_ == end_;
}

std::string_view DimacsLine::Word() {
  if (AtEnd()) return {};
  const char* const begin = at_;
  at_ = std::find_if(at_, end_, IsBlank);
  return {begin, at_};
}

bool DimacsLine::Take(std::string_view word) {
  const char* const begin = at_;
  if (Word() == word) return true;
  at_ = begin;
  return false;
}

int64_t DimacsLine::Integer(std::string_view name) {
  if (AtEnd()) {
    FailInteger(name, {});
    return 0;
  }
  int64_t value = 0;
  const auto [rest, error] = std::from_chars(at_, end_, value);
  if (error != std::errc() || (rest != end_ && !IsBlank(*rest))) {
    FailInteger(name, Word());
    return 0;
  }
  at_ = rest;
  return value;
}

void DimacsLine::FailInteger(std::string_view name, std::string_view field) {
  if (!error_.ok()) return;
  if (field.empty()) {
    error_ = Error(StrCat("the ", name, " is missing"));
    return;
  }
  int64_t value = 0;
  const auto [rest, error] =
      std::from_chars(field.data(), field.data() + field.size(), value);
  const std::string shown = StrCat(name, " '", Printable(field, kShownBytes));
  if (error == std::errc::result_out_of_range &&
      rest == field.data() + field.size()) {
    error_ = absl::OutOfRangeError(
        StrCat("line ", number_, ": ", shown, "' does not fit 64 bits"));
  } else {
    error_ = Error(StrCat(shown, "' is not a whole number"));
  }
}

absl::Status DimacsLine::End() {
  if (!error_.ok()) return error_;
  if (AtEnd()) return absl::OkStatus();
  return Error(StrCat("'", Printable({at_, end_}, kShownBytes),
                      "' follows where the line should end"));
}

absl::StatusOr<DimacsArc> DimacsLine::Arc() {
  DimacsArc arc;
  arc.tail = Integer("tail");
  arc.head = Integer("head");
  arc.lower = Integer("lower bound");
  arc.capacity = Integer("capacity");
  arc.cost = Integer("cost");
  RETURN_IF_ERROR(End());
  if (arc.capacity < 0) {
    return Error(StrCat("capacity ", arc.capacity, " is negative"));
  }
  if (arc.lower < 0) {
    return Error(StrCat("lower bound ", arc.lower, " is negative"));
  }
  if (arc.lower > arc.capacity) {
    return Error(StrCat("lower bound ", arc.lower, " is above the capacity ",
                        arc.capacity));
  }
  return arc;
}

absl::Status DimacsLine::Error(std::string_view what) const {
  return absl::InvalidArgumentError(StrCat("line ", number_, ": ", what));
}

}  // namespace sluice
