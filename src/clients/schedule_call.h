// A Schedule call as the loop sees it.
//
// Threads: see each function.

#ifndef SLUICE_CLIENTS_SCHEDULE_CALL_H_
#define SLUICE_CLIENTS_SCHEDULE_CALL_H_

#include <cstdint>
#include <functional>

#include "clients/replies.h"
#include "sluice/base/ids.h"

namespace sluice {

// A connection on which calls come; 0 if the transport cannot tell it from
// others.
using ConnectionId = Id<struct ConnectionTag, uint64_t>;

// It must live until it has been answered and has called `done`.
class ScheduleCall {
 public:
  virtual ~ScheduleCall() = default;

  // True if the client has gone, as far as the transport knows.
  virtual bool IsCancelled() const = 0;

  virtual ConnectionId connection() const { return {}; }

  // Sends the reply; called once, on the core thread.  `done` must be called
  // once, on any thread, when the transport has finished with the call:
  // `is_delivered` is true if the whole reply was handed over.
  virtual void Answer(ScheduleReply reply,
                      std::function<void(bool is_delivered)> done) = 0;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_SCHEDULE_CALL_H_
