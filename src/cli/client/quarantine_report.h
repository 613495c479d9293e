// Which of the tasks and machines that were sent are quarantined: kept out of
// scheduling because their descriptions make no sense to the server.  Its
// replies do not say so.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_CLIENT_QUARANTINE_REPORT_H_
#define SLUICE_CLI_CLIENT_QUARANTINE_REPORT_H_

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/client/connection.h"
#include "cli/client/event_line.h"

namespace sluice {

class QuarantineReport {
 public:
  // Remembers the task or the machine that `event`, of this line, describes.
  void Note(const Event& event, int64_t line_number);
  // Remembers a task that no line describes.  A report is of lines or of such
  // tasks, and then shows no lines.
  void NoteTask(uint64_t uid) { tasks_[uid] = kNoLine; }

  // Asks the server which of what was noted is quarantined, if anything was.
  // Errors: those of the connection.
  absl::Status Ask(Connection& connection);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

  void PrintTable(std::ostream& out) const;
  // One JSON object a line.
  void PrintJson(std::ostream& out) const;

 private:
  static constexpr int64_t kNoLine = 0;

  struct Entry {
    int64_t line_number;  // The last line that described it, or kNoLine.
    std::string kind;
    std::string id;
    std::string name;
    std::string reason;
  };

  std::map<uint64_t, int64_t> tasks_;
  std::map<std::string, int64_t> machines_;
  std::vector<Entry> entries_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_QUARANTINE_REPORT_H_
