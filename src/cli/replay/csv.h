// Tables in CSV, read by the names of their columns.
//
// Lines end with LF or CRLF; blank lines are skipped.  A field may be quoted
// ("a, b", a quote inside doubled), but cannot continue on the next line.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_REPLAY_CSV_H_
#define SLUICE_CLI_REPLAY_CSV_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/flag_set.h"

namespace sluice {

class CsvReader {
 public:
  // Reads the header.  Errors begin with `name`.  `input` must outlive the
  // reader.
  // Errors: kInvalidArgument without a header, or if it names a column twice.
  static absl::StatusOr<CsvReader> Open(std::string name, std::istream& input);

  // The index of a column; nullopt if the file has none of that name.
  std::optional<size_t> FindColumn(std::string_view column) const;

  // Errors: kInvalidArgument if the file has no column of that name.
  absl::StatusOr<size_t> Column(std::string_view column) const;

  // Goes to the next row; false at the end of the file.
  // Errors: kInvalidArgument if a row has more or fewer fields than the header,
  // or a quote is missing; kDataLoss if reading fails.
  absl::StatusOr<bool> Next();

  // The field of the current row.  REQUIRES: `column` is one of the file's,
  // and Next() has returned true.
  const std::string& Text(size_t column) const;

  // Errors: kInvalidArgument if the field is not a number in `range`.
  absl::StatusOr<int64_t> Integer(size_t column, IntegerRange range) const;

  // An error at the current row:
  // "pods.csv:7: column cpu_milli: `reason`".
  absl::Status ErrorAt(size_t column, std::string_view reason) const;

 private:
  CsvReader(std::string name, std::istream& input)
      : name_(std::move(name)), input_(&input) {}

  // Reads the fields of the next line that is not blank; false at the end.
  absl::StatusOr<bool> ReadLine(std::vector<std::string>& fields);
  absl::Status ErrorAtLine(std::string_view reason) const;

  std::string name_;
  std::istream* input_;
  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
  int64_t line_number_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CLI_REPLAY_CSV_H_
