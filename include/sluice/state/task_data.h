// What a task reads, and where the data is, so that policies can send tasks to
// their data.
//
// Units: bytes.  Threads: values.

#ifndef SLUICE_STATE_TASK_DATA_H_
#define SLUICE_STATE_TASK_DATA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// The label that says in which rack a machine is.
inline constexpr char kRackLabel[] = "rack";

struct TaskData {
  using Places = std::vector<std::pair<std::string, int64_t>>;

  int64_t bytes = 0;  // Total; 0: the task reads nothing.
  // How much of it is on each machine, by name, and in each rack.  Ascending
  // names, without duplicates; amounts from 1 to `bytes`.
  Places on_machines = {};
  Places in_racks = {};

  bool empty() const { return bytes == 0; }
  // 0 if none is there.
  static int64_t AmountAt(const Places& places, std::string_view name);

  friend auto operator<=>(const TaskData&, const TaskData&) = default;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_DATA_H_
