// Random tasks with terms about other tasks, and machines with domains, over so
// few words that they meet often.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_RANDOM_PEERS_H_
#define SLUICE_TESTS_PROPERTY_RANDOM_PEERS_H_

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "util/peer_builder.h"

namespace sluice {

// Each seed leaves some kinds of terms out, so that what one kind would hide
// shows without it.
class RandomPeers {
 public:
  explicit RandomPeers(uint64_t seed);

  // In canonical form, but for the gang: there is none.
  SubmitTask DrawTask(uint64_t uid);
  MachineOptions DrawMachine(const std::string& uuid);

 private:
  TaskSelector DrawSelector(const std::string& task_namespace,
                            const LabelPairs& labels);
  PlacementRules DrawTerms(const std::string& task_namespace,
                           const LabelPairs& labels);
  std::string DrawTopologyKey();

  Rng rng_;
  const bool has_affinity_ = rng_.Chance(3, 4);
  const bool has_anti_affinity_ = rng_.Chance(3, 4);
  const bool has_spread_ = rng_.Chance(3, 4);
  const bool has_preferred_ = rng_.Chance(1, 2);
  const bool has_rules_about_nodes_ = rng_.Chance(1, 3);
  const bool has_priorities_ = rng_.Chance(1, 3);
  const bool is_tight_ = rng_.Chance(1, 2);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_RANDOM_PEERS_H_
