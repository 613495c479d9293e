// What goes wrong in a simulated life, and how often.
//
// Threads: values.

#ifndef SLUICE_TESTS_SIM_FAULTS_H_
#define SLUICE_TESTS_SIM_FAULTS_H_

#include <cstdint>

namespace sluice::sim {

// Mean times between two of a kind, in milliseconds of a life; 0: never.
struct Faults {
  int64_t kills_ms = 0;         // The process dies.
  int64_t power_losses_ms = 0;  // And what was not synced with it.
  int64_t store_losses_ms = 0;  // And all that was stored.
  int64_t breaks_ms = 0;        // A client's connection.
  int64_t clock_jumps_ms = 0;
  // The process that leads stands still, or is cut off from the store, and
  // after a lease another one leads.
  int64_t freezes_ms = 0;
  int64_t partitions_ms = 0;
  // Of so many writes, or solves, one fails; 0: none.
  int64_t writes_to_a_failure = 0;
  int64_t solves_to_a_failure = 0;
  // How long a message, a solve or a client may take at most.
  int64_t message_us = 1000;
  int64_t solve_us = 1000;
  int64_t client_us = 1000;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_FAULTS_H_
