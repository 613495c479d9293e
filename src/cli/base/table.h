// A table in plain text: a row of headings, columns two spaces apart.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_BASE_TABLE_H_
#define SLUICE_CLI_BASE_TABLE_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace sluice {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    // True if the cells are our own pictures, which are printed unchanged.
    // Only the last column may have them, since their width is not known.
    bool is_picture = false;
  };

  // REQUIRES: at least one column.
  explicit Table(std::vector<Column> columns);

  // Cells are printed in printable ASCII, so that no name can upset a terminal
  // or the columns.  REQUIRES: as many cells as columns.
  void AddRow(std::vector<std::string> cells);

  // Writes the headings and the rows; no line ends with a space.
  void Print(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_TABLE_H_
