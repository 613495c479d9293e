#include "integration/lasting_calls.h"

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "base/strings.h"
#include "integration/messages.h"

namespace sluice {
namespace {

// A leader that is stopped is not waited for any longer.
constexpr int64_t kAttemptMs = 700;
// Long enough for a call to outlast a leader that is stopped.
constexpr int64_t kProbeMs = 5000;
// Nobody may lead for so long, and then the test gives up.
constexpr int64_t kPatienceUs = 60'000'000;
constexpr int64_t kBetweenAttemptsUs = 10'000;
constexpr int64_t kBetweenCallsUs = 4'000;
constexpr int64_t kBetweenProbesUs = 10'000;

constexpr size_t kTasksMax = 60;
// So many machines take tasks; the others only add to what has to be kept.
constexpr size_t kLargeMachines = 12;
// One leader's knowledge is compared each so many calls.
constexpr int64_t kCallsPerComparison = 100;

bool MayBeAnsweredElsewhere(const grpc::Status& status) {
  const grpc::StatusCode code = status.error_code();
  return code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED ||
         code == grpc::StatusCode::CANCELLED;
}

}  // namespace

std::shared_ptr<grpc::Channel> ConnectEagerly(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(),
                                   arguments);
}

void SetDeadline(int64_t ms, grpc::ClientContext* context) {
  context->set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                     gpr_time_from_millis(ms, GPR_TIMESPAN)));
}

LastingCalls::LastingCalls(const ReplicaGroup& group, AnswerLog& answers,
                           uint64_t seed)
    : group_(group), answers_(answers), rng_(seed) {
  for (const int port : group.ports()) {
    clients_.push_back(std::make_unique<Client>(ConnectEagerly(port)));
  }
}

void LastingCalls::Run() {
  while (!is_stopped() && !has_failed()) {
    Step();
    if (answered_ != compared_ ||
        ++calls_since_compared_ >= kCallsPerComparison) {
      Compare();
    }
    Pause(kBetweenCallsUs);
  }
}

void LastingCalls::Step() {
  const uint64_t kind = rng_.Below(100);
  if (kind < 15) {
    AddMachine();
  } else if (kind < 50) {
    Submit();
  } else if (kind < 75) {
    Schedule();
  } else {
    EndSome(/*is_removal=*/kind < 90);
  }
  for (const std::string& error : acknowledged_.errors()) FailAt(error);
}

template <class Request, class Response>
LastingCalls::Outcome LastingCalls::Call(
    grpc::Status (Scheduler::Stub::*method)(grpc::ClientContext*,
                                            const Request&, Response*),
    const Request& request, Response* response) {
  Outcome outcome;
  const int64_t first_us = clock_.MonotonicUs();
  while (!has_failed()) {
    const size_t replica = current_;
    const int64_t life = group_.life(replica);
    grpc::ClientContext context;
    SetDeadline(kAttemptMs, &context);
    const int64_t begin_us = clock_.MonotonicUs();
    const grpc::Status status =
        (clients_[replica]->scheduler().*method)(&context, request, response);
    const int64_t end_us = clock_.MonotonicUs();
    if (status.ok()) {
      answered_ = {replica, life};
      // Else it was one of two processes.
      if (group_.life(replica) == life) {
        answers_.Note({replica, life, begin_us, end_us});
      }
      outcome.is_answered = true;
      ++progress_;
      if (outcome.was_repeated) ++repeated_;
      return outcome;
    }
    if (!MayBeAnsweredElsewhere(status)) {
      FailAt(StrCat(Request::descriptor()->name(), ": ",
                    static_cast<int>(status.error_code()), ": ",
                    status.error_message()));
    }
    if (end_us - first_us > kPatienceUs) FailAt("nobody answers");
    outcome.was_repeated = true;
    outcome.suspects.emplace_back(replica, life);
    current_ = (replica + 1) % clients_.size();
    Pause(kBetweenAttemptsUs);
  }
  return outcome;
}

void LastingCalls::AddMachine() {
  const size_t number = acknowledged_.machines();
  const std::string uuid = StrCat("m", number);
  const int64_t cpu = number < kLargeMachines ? 4000 : 1;
  firmament::NodeAddedResponse response;
  ++machines_asked_;
  const Outcome outcome =
      Call(&Scheduler::Stub::NodeAdded,
           NodeMessage(uuid, {.cpu = static_cast<float>(cpu)}), &response);
  if (!outcome.is_answered) return;
  if (response.type() != firmament::NODE_ADDED_OK && !outcome.was_repeated) {
    FailAt(StrCat(uuid, ": ", firmament::NodeReplyType_Name(response.type())));
  }
  acknowledged_.AddMachine(uuid, cpu);
  ++machines_acknowledged_;
}

void LastingCalls::Submit() {
  if (acknowledged_.tasks().size() >= kTasksMax) return;
  const uint64_t uid = next_uid_++;
  const int64_t cpu = rng_.Between(1, 15) * 100;
  firmament::TaskSubmittedResponse response;
  Outcome outcome =
      Call(&Scheduler::Stub::TaskSubmitted,
           TaskMessage(uid, {.cpu = static_cast<float>(cpu),
                             .job = StrCat("job", uid % 5),
                             .priority = rng_.Chance(1, 4) ? 1000u : 0u}),
           &response);
  if (!outcome.is_answered) return;
  if (response.type() != firmament::TASK_SUBMITTED_OK &&
      !outcome.was_repeated) {
    FailAt(StrCat("task ", uid, ": ",
                  firmament::TaskReplyType_Name(response.type())));
  }
  acknowledged_.AddTask(uid, cpu);
  suspects_[uid] = std::move(outcome.suspects);
}

void LastingCalls::Schedule() {
  firmament::SchedulingDeltas reply;
  if (Call(&Scheduler::Stub::Schedule, firmament::ScheduleRequest(), &reply)
          .is_answered) {
    acknowledged_.Decided(reply);
  }
}

void LastingCalls::EndSome(bool is_removal) {
  // A process that has not read all that was sent to it may submit a task after
  // that was removed.
  std::vector<uint64_t> uids;
  for (const auto& [uid, task] : acknowledged_.tasks()) {
    std::vector<Suspect>& suspects = suspects_[uid];
    std::erase_if(suspects, [&](const Suspect& suspect) {
      return group_.life(suspect.first) > suspect.second;
    });
    if (!suspects.empty()) continue;
    if (is_removal || !task.has_ended) uids.push_back(uid);
  }
  if (uids.empty()) return;
  uint64_t uid = uids[rng_.Below(uids.size())];
  for (const uint64_t each : uids) {
    if (acknowledged_.tasks().at(each).leaves) uid = each;
  }
  firmament::TaskUID request;
  request.set_task_uid(uid);
  if (is_removal) {
    firmament::TaskRemovedResponse response;
    const Outcome outcome =
        Call(&Scheduler::Stub::TaskRemoved, request, &response);
    if (!outcome.is_answered) return;
    if (response.type() != firmament::TASK_REMOVED_OK &&
        !outcome.was_repeated) {
      FailAt(StrCat("task ", uid, " is removed: ",
                    firmament::TaskReplyType_Name(response.type())));
    }
    acknowledged_.TaskRemoved(uid);
    suspects_.erase(uid);
  } else {
    firmament::TaskCompletedResponse response;
    const Outcome outcome =
        Call(&Scheduler::Stub::TaskCompleted, request, &response);
    if (!outcome.is_answered) return;
    if (response.type() != firmament::TASK_COMPLETED_OK) {
      FailAt(StrCat("task ", uid, " has completed: ",
                    firmament::TaskReplyType_Name(response.type())));
    }
    acknowledged_.TaskEnded(uid);
  }
}

template <class Request, class Response, class Item>
bool LastingCalls::List(
    grpc::Status (v1::Inspector::Stub::*method)(grpc::ClientContext*,
                                                const Request&, Response*),
    const google::protobuf::RepeatedPtrField<Item>& (Response::*items)() const,
    std::vector<Item>* all) {
  Request request;
  do {
    grpc::ClientContext context;
    SetDeadline(kAttemptMs, &context);
    Response response;
    const int64_t begin_us = clock_.MonotonicUs();
    const grpc::Status status = (clients_[answered_.first]->inspector().*
                                 method)(&context, request, &response);
    if (!status.ok()) return false;
    // Of the same process as the call before.
    if (group_.life(answered_.first) != answered_.second) return false;
    answers_.Note(
        {answered_.first, answered_.second, begin_us, clock_.MonotonicUs()});
    all->insert(all->end(), (response.*items)().begin(),
                (response.*items)().end());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return true;
}

void LastingCalls::Compare() {
  std::vector<v1::Machine> machines;
  std::vector<v1::Task> tasks;
  if (!List(&v1::Inspector::Stub::ListMachines,
            &v1::ListMachinesResponse::machines, &machines) ||
      !List(&v1::Inspector::Stub::ListTasks, &v1::ListTasksResponse::tasks,
            &tasks)) {
    return;  // With the next answer.
  }
  acknowledged_.Compare(machines, tasks);
  for (const std::string& error : acknowledged_.errors()) FailAt(error);
  compared_ = answered_;
  calls_since_compared_ = 0;
  ++comparisons_;
}

void LastingCalls::FailAt(const std::string& error) {
  Fail(StrCat("asking daemon ", answered_.first, " in its life ",
              answered_.second, ": ", error));
}

std::string LastingCalls::Summary() const {
  return StrCat(repeated_, " calls made again, ", acknowledged_.machines(),
                " machines, ", acknowledged_.placements(), " placements, ",
                comparisons_, " comparisons");
}

StatusProbe::StatusProbe(const ReplicaGroup& group, size_t replica,
                         const LastingClient& client, AnswerLog& answers)
    : group_(group), replica_(replica), client_(client), answers_(answers) {}

void StatusProbe::Run() {
  const auto inspector =
      v1::Inspector::NewStub(ConnectEagerly(group_.ports()[replica_]));
  while (!is_stopped_) {
    const int64_t life = group_.life(replica_);
    const int64_t least = client_.machines_acknowledged();
    grpc::ClientContext context;
    SetDeadline(kProbeMs, &context);
    v1::Status response;
    const int64_t begin_us = clock_.MonotonicUs();
    const grpc::Status status = inspector->GetStatus(&context, {}, &response);
    const int64_t end_us = clock_.MonotonicUs();
    if (status.ok() && group_.life(replica_) == life) {
      answers_.Note({replica_, life, begin_us, end_us});
      const int64_t most = client_.machines_asked();
      if ((response.machines() < least || response.machines() > most) &&
          error_.empty()) {
        error_ = StrCat("daemon ", replica_, " in its life ", life,
                        " knows of ", response.machines(), " machines, where ",
                        least, " to ", most, " are right");
      }
    }
    const MutexLock lock(mutex_);
    pause_.WaitFor(mutex_, kBetweenProbesUs);
  }
}

}  // namespace sluice
