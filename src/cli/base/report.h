// The figures at the end of a replay or a benchmark: one list, printed for
// people with units, or for programs as plain numbers with the unit in the key.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_BASE_REPORT_H_
#define SLUICE_CLI_BASE_REPORT_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class Report {
 public:
  // `key` names the figure in JSON, `label` in the table.
  struct Name {
    std::string_view key;
    std::string_view label;
  };

  void AddCount(Name name, int64_t count);
  // Shown as "3.2 ms"; the key should end with "_us".
  void AddMicroseconds(Name name, int64_t us);
  // `part` of `whole`, shown as "26.4 %"; in JSON a number from 0 to 1, or
  // null if `whole` is not positive.
  void AddShare(Name name, int64_t part, int64_t whole);
  // `count` in `us`, shown as "12345.6 /s"; "-", in JSON null, if `us` is not
  // positive.
  void AddRate(Name name, int64_t count, int64_t us);
  void AddText(Name name, std::string_view text);

  void Print(bool as_json, std::ostream& out) const {
    as_json ? PrintJson(out) : PrintTable(out);
  }
  void PrintTable(std::ostream& out) const;
  // One JSON object, on lines of its own.
  void PrintJson(std::ostream& out) const;

 private:
  struct Figure {
    std::string key;
    std::string label;
    std::string shown;
    std::string json;
  };

  void Add(Name name, std::string shown, std::string json);

  std::vector<Figure> figures_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_REPORT_H_
