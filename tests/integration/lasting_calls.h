// A client of the contract that knows several daemons, and makes each call at
// one after the other until it is answered, and then the next call: machines
// and tasks come, are placed, end and go.  What it was told is kept in a model
// (acknowledged.h), which each new leader has to know, too.
//
// Threads: Run() has one; the rest by any.

#ifndef SLUICE_TESTS_INTEGRATION_LASTING_CALLS_H_
#define SLUICE_TESTS_INTEGRATION_LASTING_CALLS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/rng.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "integration/acknowledged.h"
#include "integration/answer_log.h"
#include "integration/client.h"
#include "integration/lasting_client.h"
#include "integration/replica_group.h"
#include "sluice/base/clock.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

// A channel that soon notices that its daemon is back.
std::shared_ptr<grpc::Channel> ConnectEagerly(int port);

// The deadline of a call, from now.
void SetDeadline(int64_t ms, grpc::ClientContext* context);

class LastingCalls final : public LastingClient {
 public:
  LastingCalls(const ReplicaGroup& group, AnswerLog& answers, uint64_t seed);

  void Run() override;
  std::string Summary() const override;

 private:
  using Scheduler = firmament::FirmamentScheduler;
  // A process that may still act on a call that was not answered.
  using Suspect = std::pair<size_t, int64_t>;

  struct Outcome {
    bool is_answered = false;
    bool was_repeated = false;
    std::vector<Suspect> suspects = {};
  };

  // Makes the call until it is answered.
  template <class Request, class Response>
  Outcome Call(grpc::Status (Scheduler::Stub::*method)(grpc::ClientContext*,
                                                       const Request&,
                                                       Response*),
               const Request& request, Response* response);
  void Step();
  void AddMachine();
  void Submit();
  void Schedule();
  void EndSome(bool is_removal);
  // Compares what the daemon that answered last knows.
  void Compare();
  // Of `replica`; false if it does not answer all.
  template <class Request, class Response, class Item>
  bool List(grpc::Status (v1::Inspector::Stub::*method)(grpc::ClientContext*,
                                                        const Request&,
                                                        Response*),
            const google::protobuf::RepeatedPtrField<Item>& (Response::*items)()
                const,
            std::vector<Item>* all);
  void FailAt(const std::string& error);

  const ReplicaGroup& group_;
  AnswerLog& answers_;
  const SystemClock clock_;
  Rng rng_;
  std::vector<std::unique_ptr<Client>> clients_;
  size_t current_ = 0;
  Suspect answered_ = {0, 0};  // The process that answered last.
  Suspect compared_ = {0, 0};
  int64_t calls_since_compared_ = 0;

  Acknowledged acknowledged_;
  uint64_t next_uid_ = 1;
  std::map<uint64_t, std::vector<Suspect>> suspects_;  // Of submissions.
  int64_t comparisons_ = 0;
  int64_t repeated_ = 0;
};

// Asks one daemon for its status, again and again: a call that changes nothing
// and is answered from memory.  What it says has to be between what was
// acknowledged when the call began and what was asked for when it ended.
//
// Threads: Run() has one; the rest by any.
class StatusProbe {
 public:
  StatusProbe(const ReplicaGroup& group, size_t replica,
              const LastingClient& client, AnswerLog& answers);

  void Run();
  void Stop() { is_stopped_ = true; }
  // Empty if all was right.  After Run().
  const std::string& error() const { return error_; }

 private:
  const ReplicaGroup& group_;
  const size_t replica_;
  const LastingClient& client_;
  AnswerLog& answers_;
  const SystemClock clock_;
  std::atomic<bool> is_stopped_ = false;
  std::string error_;
  Mutex mutex_;
  CondVar pause_;  // Never notified.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_LASTING_CALLS_H_
