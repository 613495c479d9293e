#include "cli/replay/csv.h"

#include <algorithm>
#include <istream>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "glog/logging.h"

namespace sluice {
namespace {

// Takes one field off the front of `rest`, up to the comma or the end.
// Returns false if a quoted field does not end before either.
bool TakeField(std::string_view& rest, std::string& field) {
  field.clear();
  if (rest.starts_with('"')) {
    size_t i = 1;
    for (; i < rest.size(); ++i) {
      if (rest[i] == '"') {
        if (i + 1 == rest.size() || rest[i + 1] != '"') break;
        ++i;
      }
      field += rest[i];
    }
    if (i >= rest.size()) return false;
    rest.remove_prefix(i + 1);
    return rest.empty() || rest.front() == ',';
  }
  const size_t end = std::min(rest.find(','), rest.size());
  field = rest.substr(0, end);
  rest.remove_prefix(end);
  return true;
}

}  // namespace

absl::StatusOr<CsvReader> CsvReader::Open(std::string name,
                                          std::istream& input) {
  CsvReader reader(std::move(name), input);
  ASSIGN_OR_RETURN(const bool has_header, reader.ReadLine(reader.columns_));
  if (!has_header) {
    return absl::InvalidArgumentError(
        StrCat(reader.name_, ": the header row is missing"));
  }
  std::vector<std::string> sorted = reader.columns_;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return reader.ErrorAtLine(StrCat("column ", *twice, " appears twice"));
  }
  return reader;
}

std::optional<size_t> CsvReader::FindColumn(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

absl::StatusOr<size_t> CsvReader::Column(std::string_view column) const {
  const std::optional<size_t> found = FindColumn(column);
  if (found.has_value()) return *found;
  return absl::InvalidArgumentError(
      StrCat(name_, ": column ", column, " is missing"));
}

absl::StatusOr<bool> CsvReader::Next() {
  ASSIGN_OR_RETURN(const bool has_row, ReadLine(fields_));
  if (!has_row) return false;
  if (fields_.size() != columns_.size()) {
    return ErrorAtLine(StrCat(fields_.size(), " fields, but the header has ",
                              columns_.size()));
  }
  return true;
}

const std::string& CsvReader::Text(size_t column) const {
  CHECK_LT(column, fields_.size());
  return fields_[column];
}

absl::StatusOr<int64_t> CsvReader::Integer(size_t column,
                                           IntegerRange range) const {
  const absl::StatusOr<int64_t> value = ParseInteger(Text(column), range);
  if (!value.ok()) return ErrorAt(column, Message(value.status()));
  return *value;
}

absl::Status CsvReader::ErrorAt(size_t column, std::string_view reason) const {
  return ErrorAtLine(StrCat("column ", columns_[column], ": ", reason));
}

absl::Status CsvReader::ErrorAtLine(std::string_view reason) const {
  return absl::InvalidArgumentError(
      StrCat(name_, ":", line_number_, ": ", reason));
}

absl::StatusOr<bool> CsvReader::ReadLine(std::vector<std::string>& fields) {
  std::string line;
  do {
    if (!std::getline(*input_, line)) {
      if (!input_->bad()) return false;
      return absl::DataLossError(
          StrCat(name_, ":", line_number_ + 1, ": cannot read further"));
    }
    ++line_number_;
    if (line.ends_with('\r')) line.pop_back();
  } while (line.empty());

  fields.clear();
  std::string_view rest = line;
  while (true) {
    std::string field;
    if (!TakeField(rest, field)) {
      return ErrorAtLine(
          StrCat("field ", fields.size() + 1, ": a quote is out of place"));
    }
    fields.push_back(std::move(field));
    if (rest.empty()) return true;
    rest.remove_prefix(1);
  }
}

}  // namespace sluice
