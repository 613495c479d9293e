// firmament.FirmamentScheduler: the wire contract, method by method.
//
// The methods take the bytes of a request and parse them here (rpc/wire.h).
// In the reply modes kContract and kLenient no request can make a call fail;
// malformed ones are counted and logged.
//
// A contract call is never refused for lack of room in the mailbox: the number
// of concurrent calls is bounded by the streams that the transport admits
// (server/server.cc).  In kStrict mode a full mailbox is RESOURCE_EXHAUSTED.
//
// Threads: any; calls are answered on the core thread.

#ifndef SLUICE_RPC_SCHEDULER_SERVICE_H_
#define SLUICE_RPC_SCHEDULER_SERVICE_H_

#include <cstdint>
#include <string_view>

#include "firmament/firmament_scheduler.grpc.pb.h"
#include "loop/core_loop.h"
#include "observe/metrics.h"
#include "observe/rate_limited_log.h"
#include "rpc/convert.h"
#include "rpc/convert_rules.h"
#include "rpc/gate.h"
#include "rpc/reply_codes.h"
#include "sluice/base/clock.h"

namespace sluice {

// `Base` with each of the generated Methods<Base> wrapped around it.
template <class Base, template <class> class... Methods>
struct WithMethods {
  using type = Base;
};
template <class Base, template <class> class First,
          template <class> class... Rest>
struct WithMethods<Base, First, Rest...> {
  using type = First<typename WithMethods<Base, Rest...>::type>;
};

using RawScheduler = firmament::FirmamentScheduler;
using RawSchedulerService =
    WithMethods<RawScheduler::Service,  //
                RawScheduler::WithRawCallbackMethod_Schedule,
                RawScheduler::WithRawCallbackMethod_TaskCompleted,
                RawScheduler::WithRawCallbackMethod_TaskFailed,
                RawScheduler::WithRawCallbackMethod_TaskRemoved,
                RawScheduler::WithRawCallbackMethod_TaskSubmitted,
                RawScheduler::WithRawCallbackMethod_TaskUpdated,
                RawScheduler::WithRawCallbackMethod_NodeAdded,
                RawScheduler::WithRawCallbackMethod_NodeFailed,
                RawScheduler::WithRawCallbackMethod_NodeRemoved,
                RawScheduler::WithRawCallbackMethod_NodeUpdated,
                RawScheduler::WithRawCallbackMethod_AddTaskStats,
                RawScheduler::WithRawCallbackMethod_AddNodeStats,
                RawScheduler::WithRawCallbackMethod_Check,
                RawScheduler::WithRawCallbackMethod_AddTaskInfo>::type;

class SchedulerService final : public RawSchedulerService {
 public:
  struct Options {
    ReplyMode replies = ReplyMode::kContract;
    MessageDefaults defaults = {};
    // True if the bandwidth counts that tasks ask for by its fields.  As in
    // Firmament, only the policy for bandwidth heeds it.
    bool heeds_bandwidth = false;
  };

  struct Parts {
    CoreLoop& loop;
    const Gate& gate;
    const Clock& clock;
    Metrics& metrics;
  };

  // All must outlive the service; `loop` must run while the gate is open.
  SchedulerService(Parts parts, Options options);

  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  Reactor* Schedule(Context*, const Bytes*, Bytes*) override;
  Reactor* TaskCompleted(Context*, const Bytes*, Bytes*) override;
  Reactor* TaskFailed(Context*, const Bytes*, Bytes*) override;
  Reactor* TaskRemoved(Context*, const Bytes*, Bytes*) override;
  Reactor* TaskSubmitted(Context*, const Bytes*, Bytes*) override;
  Reactor* TaskUpdated(Context*, const Bytes*, Bytes*) override;
  Reactor* NodeAdded(Context*, const Bytes*, Bytes*) override;
  Reactor* NodeFailed(Context*, const Bytes*, Bytes*) override;
  Reactor* NodeRemoved(Context*, const Bytes*, Bytes*) override;
  Reactor* NodeUpdated(Context*, const Bytes*, Bytes*) override;
  Reactor* AddTaskStats(Context*, const Bytes*, Bytes*) override;
  Reactor* AddNodeStats(Context*, const Bytes*, Bytes*) override;
  Reactor* Check(Context*, const Bytes*, Bytes*) override;
  Reactor* AddTaskInfo(Context*, const Bytes*, Bytes*) override;

 private:
  // Where the answer to a call goes.
  struct Call {
    Reactor* reactor;
    Bytes* response;
    ConnectionId connection;
  };

  // No id in strict mode, in which nobody begins anew unnoticed.
  ConnectionId ConnectionOf(const Context& context) const;

  // Parses a Request, converts it to a command with `convert`, submits that,
  // and answers with the value in `codes` for the outcome.  `convert` notes
  // what it cannot understand in its second argument.
  template <class Request, class Response, class Codes, class Convert>
  Reactor* Serve(Context* context, const Bytes* request, Bytes* response,
                 const Codes& codes, Convert convert);
  // The part of Serve() after the conversion.
  template <class Response, class Codes>
  void Submit(Call call, const Codes& codes, Command&& command,
              const Faults& faults);
  template <class Response, class Codes>
  void AnswerMalformed(Call call, const Codes& codes, std::string_view offender,
                       std::string_view reason);

  // Ends a call whose request did not arrive, and one to a daemon that follows;
  // else null.
  Reactor* Refuse(Context* context, const Bytes& request) const;

  void CountMalformed(std::string_view method, std::string_view offender,
                      std::string_view reason);

  CoreLoop& loop_;
  const Gate& gate_;
  const Clock& clock_;
  Metrics& metrics_;
  const Options options_;
  RateLimiter malformed_log_{10};
};

}  // namespace sluice

#endif  // SLUICE_RPC_SCHEDULER_SERVICE_H_
