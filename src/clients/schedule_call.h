// A Schedule call as the loop sees it.
//
// Threads: see each function.

#ifndef SLUICE_CLIENTS_SCHEDULE_CALL_H_
#define SLUICE_CLIENTS_SCHEDULE_CALL_H_

#include <functional>

#include "round/scheduler.h"

namespace sluice {

// It must live until it has been answered and has called `done`.
class ScheduleCall {
 public:
  virtual ~ScheduleCall() = default;

  // True if the client has gone, as far as the transport knows.
  virtual bool IsCancelled() const = 0;

  // True if its client has called nothing but Check and Schedule on its
  // connection.  It may have begun anew, and know nothing that a reply would
  // name.
  virtual bool IsOfNewcomer() const { return false; }

  // Sends the reply; called once, on the core thread.  `done` must be called
  // once, on any thread, when the transport has finished with the call:
  // `is_delivered` is true if the whole reply was handed over.
  virtual void Answer(ScheduleReply reply,
                      std::function<void(bool is_delivered)> done) = 0;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_SCHEDULE_CALL_H_
