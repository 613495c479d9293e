// Which classes ask for minimums in domains (DomainMinimum): of those that ask
// for the same one, the class that asks for the most.
//
// Threads: as a standard container.

#ifndef SLUICE_ROUND_CONTEXT_MINIMUM_ASKERS_H_
#define SLUICE_ROUND_CONTEXT_MINIMUM_ASKERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

class MinimumAskers {
 public:
  // Notes all minimums of the class.
  void Add(const ClassKey& key, const ClusterState& state);
  void Add(const MinimumAskers& others);

  // How many tasks the minimums lack in all, as the tasks run now.
  int64_t CountLacking(const ClusterState& state) const;

 private:
  struct Asker {
    ClassKey key;
    size_t minimum = 0;  // Its index in the rules of the class.
    int32_t AtLeast() const { return key.rules->minimums[minimum].at_least; }
  };
  // A selector and a topology key: what a minimum is about.
  using Subject = std::pair<uint32_t, std::string>;

  void Add(const Subject& subject, const Asker& asker);

  std::map<Subject, Asker> askers_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_MINIMUM_ASKERS_H_
