// What quality_benchmark prints: rows of cells, below each other or with commas
// between them.
//
// Threads: none.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_TABLE_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_TABLE_H_

#include <string>
#include <vector>

namespace sluice {

class Table {
 public:
  struct Column {
    const char* name;
    int width;
  };

  // Prints the names of the columns.
  Table(bool is_csv, std::vector<Column> columns);

  // REQUIRES: a cell for each column.
  void Print(const std::vector<std::string>& cells) const;

 private:
  const bool is_csv_;
  const std::vector<Column> columns_;
};

std::string Decimals(double value, int count);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_TABLE_H_
