#include "benchmark/quality_table.h"

#include <glog/logging.h>

#include <cstddef>
#include <cstdio>
#include <utility>

namespace sluice {

Table::Table(bool is_csv, std::vector<Column> columns)
    : is_csv_(is_csv), columns_(std::move(columns)) {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.emplace_back(column.name);
  Print(names);
}

void Table::Print(const std::vector<std::string>& cells) const {
  CHECK_EQ(cells.size(), columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const char* separator = i == 0 ? "" : is_csv_ ? "," : "  ";
    const int width = is_csv_ ? 0 : columns_[i].width;
    std::printf("%s%*s", separator, width, cells[i].c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::string Decimals(double value, int count) {
  std::string text(32, '\0');
  text.resize(static_cast<size_t>(
      std::snprintf(text.data(), text.size(), "%.*f", count, value)));
  return text;
}

}  // namespace sluice
