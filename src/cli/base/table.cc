#include "cli/base/table.h"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <utility>

#include "base/strings.h"
#include "glog/logging.h"

namespace sluice {
namespace {

// Kubernetes limits names to 253 bytes; longer cells would only wrap the lines.
constexpr size_t kCellBytesMax = 256;

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  CHECK(!columns_.empty());
}

void Table::AddRow(std::vector<std::string> cells) {
  CHECK_EQ(cells.size(), columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    if (columns_[i].is_picture) continue;
    cells[i] = Printable(cells[i], kCellBytesMax);
  }
  rows_.push_back(std::move(cells));
}

void Table::Print(std::ostream& out) const {
  std::vector<std::string> headings;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(column.heading.size());
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const auto print_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - cells[i].size(), ' ');
      const bool is_right = columns_[i].align == Align::kRight;
      line += StrCat(i == 0 ? "" : "  ", is_right ? padding : "", cells[i],
                     is_right ? "" : padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_row(headings);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace sluice
