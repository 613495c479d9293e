// One line of words and whole numbers, taken apart from left to right: what
// the readers of DIMACS files and of changes to them share.
//
// Fields are separated by blanks, tabs and carriage returns.  A number that is
// none reads as zero and is kept as the line's error (the first one is), so
// that a reader may ask for all fields of a line, and then once for End().
//
// Threads: none; confined to its owner, and the text must outlive it.

#ifndef SLUICE_FLOW_DIMACS_LINE_H_
#define SLUICE_FLOW_DIMACS_LINE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "flow/dimacs.h"
#include "sluice/flow/problem.h"

namespace sluice {

// The fields of an 'a' line, nodes counted from 1.
struct DimacsArc {
  int64_t tail = 0;
  int64_t head = 0;
  FlowUnits lower = 0;
  FlowUnits capacity = 0;
  FlowCost cost = 0;
};

class DimacsLine {
 public:
  // Takes the first line off *rest; `number` is for messages.
  // REQUIRES: *rest is not empty.
  DimacsLine(std::string_view* rest, int64_t number);

  // Whether nothing is left but blanks.
  bool AtEnd();

  // The next field; empty at the end.
  std::string_view Word();

  // Takes the next field if it is `word`.
  bool Take(std::string_view word);

  // The next field as a number; `name` is what messages call it.
  int64_t Integer(std::string_view name);

  // Of the first Integer() that was none: kInvalidArgument, or kOutOfRange if
  // it does not fit 64 bits.
  const absl::Status& error() const { return error_; }

  // Errors: error(), and kInvalidArgument where more follows.
  absl::Status End();

  // TAIL HEAD LOW CAP COST to the end of the line.
  // Errors: as for End(), and kInvalidArgument for a negative bound or a lower
  // bound above the capacity.
  absl::StatusOr<DimacsArc> Arc();

  // kInvalidArgument: "line 17: `what`".
  absl::Status Error(std::string_view what) const;

  int64_t number() const { return number_; }

 private:
  void FailInteger(std::string_view name, std::string_view field);

  const char* at_;
  const char* end_;
  int64_t number_;
  absl::Status error_;
};

// Hands each line of `text` to `read_line`, which takes a DimacsLine& and
// returns absl::Status, until one is not OK.
// Errors: that one; kOutOfRange for a text beyond kDimacsBytesMax.
template <class ReadLine>
absl::Status ForEachDimacsLine(std::string_view text, ReadLine read_line) {
  if (text.size() > kDimacsBytesMax) {
    return absl::OutOfRangeError(StrCat("a text of ", text.size(),
                                        " bytes is beyond the limit of ",
                                        kDimacsBytesMax));
  }
  for (int64_t number = 1; !text.empty(); ++number) {
    DimacsLine line(&text, number);
    RETURN_IF_ERROR(read_line(line));
  }
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_FLOW_DIMACS_LINE_H_
