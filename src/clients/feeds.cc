#include "clients/feeds.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/limits.h"
#include "base/strings.h"
#include "state/destination.h"

namespace sluice {
namespace {

// Rounds rest for at most this many times as long as the last one took.
constexpr int64_t kRestRatio = 4;
constexpr int64_t kRestMaxUs = 10000;

// The interval at which waiting tasks are looked at even if nothing changes:
// the time-outs of gangs and of tolerations may have passed.
constexpr int64_t kRetryUs = 1000000;

// The longest that an acknowledgment waits for a decision.  A small round takes
// less.
constexpr int64_t kAckWaitUs = 5000;

constexpr int64_t kTendUs = 1000000;
constexpr size_t kShownBytes = 64;

std::string Shown(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

// What an event is about.
std::string SubjectOf(const FeedEvent& event) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.spec.uuid; }) {
          return StrCat("machine ", Shown(one.spec.uuid));
        } else if constexpr (requires { one.uuid; }) {
          return StrCat("machine ", Shown(one.uuid));
        } else if constexpr (requires { one.budget.amount; } ||
                             std::is_same_v<decltype(one), const BudgetKept&> ||
                             std::is_same_v<decltype(one), const BudgetGone&>) {
          return StrCat("budget ", Shown(one.id));
        } else if constexpr (requires { one.id; }) {
          return StrCat("task ", Shown(one.id));
        } else {
          return "snapshot";
        }
      },
      event);
}

// The term that an event begins; null if it begins none.
const FeedTerm* TermOf(const FeedEvent& event) {
  if (const auto* led = std::get_if<FeedLed>(&event)) return &led->term;
  const auto* began = std::get_if<SnapshotBegan>(&event);
  return began == nullptr || began->is_standby ? nullptr : &began->term;
}

// True if a call that begins with it is that of a standby.
bool IsOfStandby(const FeedBatch& batch) {
  if (batch.events.empty()) return false;
  const auto* began = std::get_if<SnapshotBegan>(&batch.events.front().event);
  return began != nullptr && began->is_standby;
}

std::string MachineOf(const FeedEvent& event) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.machine_uuid; }) {
          return Shown(one.machine_uuid);
        } else {
          return "";
        }
      },
      event);
}

// Numbers, tags and lengths of a delta or a problem on the wire, at most.
constexpr size_t kEntryBytes = 40;

// Problems take half of a message at most; the other half is for deltas.
void AddProblem(FeedProblem problem, FeedNews* news) {
  if (news->bytes > kReplyBytesMax / 2) {
    ++news->problems_left_out;
    return;
  }
  news->bytes += kEntryBytes + problem.message.size();
  news->problems.push_back(std::move(problem));
}

// REQUIRES: it was not applied.
FeedProblem ProblemOf(const FeedBatch::Entry& entry, FeedOutcome outcome) {
  using Code = FeedProblem::Code;
  const std::string subject = SubjectOf(entry.event);
  const auto problem = [&](Code code, std::string_view text) {
    return FeedProblem{entry.sequence, code, StrCat(subject, text)};
  };
  switch (outcome) {
    case FeedOutcome::kApplied:
      break;
    case FeedOutcome::kUnknownTask:
    case FeedOutcome::kUnknownMachine:
    case FeedOutcome::kUnknownBudget:
      return problem(Code::kUnknown, " is not known");
    case FeedOutcome::kRunsOnUnknownMachine:
      return problem(Code::kMalformed,
                     StrCat(" runs on machine ", MachineOf(entry.event),
                            ", which is not known: it is quarantined until it "
                            "is stated again"));
    case FeedOutcome::kNotYours:
      return problem(Code::kNotYours,
                     ", or a uuid of its tree, was stated by another client");
    case FeedOutcome::kNotPlacedThere:
      return problem(Code::kNotPlacedThere,
                     StrCat(" is not placed on ", MachineOf(entry.event)));
    case FeedOutcome::kTooManyBudgets:
      return problem(Code::kInvalid,
                     StrCat(": the feed has ", kBudgetsMax, " already"));
  }
  return problem(Code::kInvalid, "");
}

}  // namespace

Feeds::Feeds(ClusterState* state, const Scheduler& scheduler, Metrics& metrics,
             Options options)
    : state_(*state),
      scheduler_(scheduler),
      metrics_(metrics),
      options_(options) {}

void Feeds::Greet(FeedSession* session, int64_t now_us) {
  nameless_.emplace(session, now_us);
}

void Feeds::Take(FeedSession* session, const FeedBatch& batch, int64_t now_ms,
                 int64_t now_us) {
  now_us_ = now_us;
  if (!batch.events.empty()) NoteChange();
  FeedId id;
  Connection* connection = Find(*session, &id);
  if (IsOfOlderTerm(
          session,
          connection == nullptr ? batch.feed : state_.feeds().at(id).name,
          batch)) {
    Close(session, now_us);
    return;
  }
  if (connection == nullptr) {
    nameless_.erase(session);
    connection = Open(session, batch, now_us, &id);
    if (connection == nullptr) return;
  }
  connection->heard_us = now_us;
  if (batch.deltas_received > connection->told_max) {
    End(session, absl::InvalidArgumentError(StrCat(
                     "deltas_received: ", batch.deltas_received,
                     ", but the last one sent was ", connection->told_max)));
    Close(session, now_us);
    return;
  }
  connection->deliveries.Confirm(batch.deltas_received);
  Apply(batch, id, now_ms, connection);
}

void Feeds::Apply(const FeedBatch& batch, FeedId feed, int64_t now_ms,
                  Connection* connection) {
  FeedNews& news = connection->news;
  ++news.batches;
  for (const FeedProblem& problem : batch.problems) AddProblem(problem, &news);
  for (const FeedBatch::Entry& entry : batch.events) {
    if (const auto* began = std::get_if<SnapshotBegan>(&entry.event)) {
      TakeBackDeltas(connection);
      connection->nominated.clear();
      connection->nominations_told = 0;
      connection->since_us = now_us_;
      NoteTerm(began->settle_ms, feed);
    } else if (const auto* led = std::get_if<FeedLed>(&entry.event)) {
      connection->since_us = now_us_;
      NoteTerm(led->settle_ms, feed);
    } else if (std::holds_alternative<SnapshotEnded>(entry.event)) {
      connection->since_us = now_us_;
    }
    const FeedOutcome outcome = state_.Apply(feed, entry.event, now_ms);
    if (outcome != FeedOutcome::kApplied) {
      AddProblem(ProblemOf(entry, outcome), &news);
    } else if (const auto* failed = std::get_if<BindFailed>(&entry.event)) {
      NoteFailedBind(*failed);
    }
  }
  ApplyUsage(batch, feed, now_ms);
  if (batch.up_to > 0) news.events_durable = batch.up_to;
  metrics_.feed_events.Increment(static_cast<double>(batch.events.size()));
}

void Feeds::NoteTerm(int64_t settle_ms, FeedId feed) {
  if (settle_ms == 0) return;
  int64_t& settled_us = settled_us_[feed];
  settled_us = std::max(settled_us, now_us_ + settle_ms * 1000);
}

void Feeds::ApplyUsage(const FeedBatch& batch, FeedId feed, int64_t now_ms) {
  for (const ReportMachineUsage& report : batch.machine_usage) {
    const bool is_known = state_.Apply(report, now_ms) == Ack::kOk;
    metrics_.usage_samples.With(is_known ? "machine" : "unknown").Increment();
  }
  for (const TaskMeasured& report : batch.task_usage) {
    const bool is_known =
        state_.Apply(feed, report, now_ms) == FeedOutcome::kApplied;
    metrics_.usage_samples.With(is_known ? "task" : "unknown").Increment();
  }
  if (batch.malformed_samples > 0) {
    metrics_.usage_samples.With("malformed")
        .Increment(static_cast<double>(batch.malformed_samples));
  }
}

void Feeds::NoteFailedBind(const BindFailed& event) {
  metrics_.failed_binds.Increment();
  if (const auto suppressed = bind_log_.Admit(now_us_)) {
    LOG(WARNING) << "task " << Shown(event.id) << " could not be bound to "
                 << Shown(event.machine_uuid)
                 << " and waits again: " << Shown(event.reason) << " ("
                 << *suppressed << " such lines suppressed)";
  }
}

bool Feeds::IsOfOlderTerm(FeedSession* session, const std::string& name,
                          const FeedBatch& batch) {
  for (const auto& [id, feed] : state_.feeds()) {
    if (feed.name != name) continue;
    for (const FeedBatch::Entry& entry : batch.events) {
      const FeedTerm* term = TermOf(entry.event);
      if (term == nullptr || !term->IsOlderThan(feed.term)) continue;
      const std::string message = StrCat(
          "feed ", Shown(name), ": term ", term->number, " of ",
          Shown(term->holder), " is over, because term ", feed.term.number,
          " of ", Shown(feed.term.holder), " has begun");
      LOG(WARNING) << message;
      End(session, absl::FailedPreconditionError(message));
      return true;
    }
  }
  return false;
}

Feeds::Connection* Feeds::Open(FeedSession* session, const FeedBatch& batch,
                               int64_t now_us, FeedId* feed) {
  const std::string& name = batch.feed;
  // A session that was ended may still have sent something.
  if (name.empty()) return nullptr;
  for (const auto& [id, connection] : connections_) {
    if (state_.feeds().at(id).name != name) continue;
    if (IsOfStandby(batch) && !state_.feeds().at(id).is_standby) {
      End(session, absl::FailedPreconditionError(
                       StrCat("feed ", Shown(name),
                              ": a client that leads is connected here, so "
                              "none can stand by")));
      return nullptr;
    }
    LOG(WARNING) << "feed " << Shown(name)
                 << ": another client has opened it; ending the former call";
    FeedSession* const former = connection.session;
    End(former, absl::AbortedError(StrCat("feed ", Shown(name),
                                          ": another client has opened it")));
    Close(former, now_us);
    break;
  }
  const bool is_known = std::ranges::any_of(
      state_.feeds(), [&](const auto& one) { return one.second.name == name; });
  if (!is_known && state_.feeds().size() >= kFeedsMax) {
    End(session,
        absl::ResourceExhaustedError(StrCat(
            "there are ", kFeedsMax, " feeds already, the most allowed")));
    return nullptr;
  }
  *feed = state_.OpenFeed(name);
  lost_us_.erase(*feed);
  LOG(INFO) << "feed " << Shown(name) << ": connected";
  Connection& connection =
      connections_.try_emplace(*feed, Connection{Deliveries(&state_)})
          .first->second;
  connection.session = session;
  connection.since_us = now_us;
  return &connection;
}

void Feeds::Close(FeedSession* session, int64_t now_us) {
  nameless_.erase(session);
  FeedId id;
  Connection* connection = Find(*session, &id);
  if (connection == nullptr) return;
  LOG(INFO) << "feed " << Shown(state_.feeds().at(id).name) << ": disconnected";
  TakeBackDeltas(connection);
  connections_.erase(id);
  state_.CloseFeed(id);
  if (state_.feeds().contains(id)) {
    lost_us_[id] = now_us;
  } else {
    settled_us_.erase(id);
  }
}

void Feeds::EndAll(const absl::Status& status) {
  for (const auto& [id, connection] : connections_) {
    End(connection.session, status);
  }
  for (const auto& [session, since_us] : nameless_) End(session, status);
}

void Feeds::Tend(int64_t now_ms, int64_t now_us) {
  now_us_ = now_us;
  if (now_us - tended_us_ < kTendUs) return;
  tended_us_ = now_us;
  for (auto it = settled_us_.begin(); it != settled_us_.end();) {
    if (now_us < it->second) {
      ++it;
      continue;
    }
    state_.SettleFeed(it->first, now_ms);
    NoteChange();
    const auto connection = connections_.find(it->first);
    if (connection != connections_.end()) connection->second.since_us = now_us;
    it = settled_us_.erase(it);
  }
  std::vector<FeedSession*> idle;
  for (const auto& [id, connection] : connections_) {
    const FeedPhase phase = state_.feeds().at(id).phase;
    if (phase == FeedPhase::kInSnapshot &&
        now_us - connection.heard_us > options_.grace_us) {
      idle.push_back(connection.session);
    }
  }
  for (FeedSession* session : idle) {
    End(session, absl::DeadlineExceededError(
                     "the snapshot has stalled: no end_snapshot came in time"));
    Close(session, now_us);
  }
  idle.clear();
  for (const auto& [session, since_us] : nameless_) {
    if (now_us - since_us > options_.grace_us) idle.push_back(session);
  }
  for (FeedSession* session : idle) {
    End(session, absl::DeadlineExceededError("feed: no snapshot has begun"));
    Close(session, now_us);
  }
  for (const auto& [id, feed] : state_.feeds()) {
    if (!connections_.contains(id)) lost_us_.try_emplace(id, now_us);
  }
  std::array<int64_t, 6> counts = {};
  for (const FeedStatus& feed : List()) {
    ++counts[static_cast<size_t>(feed.state)];
  }
  constexpr std::array<std::string_view, 6> kNames = {
      "snapshot", "settling", "standby", "live", "lost", "away"};
  for (size_t i = 0; i < counts.size(); ++i) {
    metrics_.feeds.With(kNames[i]).Set(static_cast<double>(counts[i]));
  }
}

bool Feeds::MayAckWait(FeedId feed, const Connection& connection) const {
  // A client that sends batches ahead waits for room to send more.
  if (!connection.news.IsOnlyAck() || connection.news.batches != 1 ||
      !state_.feeds().at(feed).is_live) {
    return false;
  }
  const int64_t due_us = connection.heard_us + kAckWaitUs;
  if (now_us_ >= due_us) return false;
  return scheduler_.is_in_round() || RoundDueUs().value_or(due_us) < due_us;
}

std::optional<int64_t> Feeds::AckDueUs() const {
  std::optional<int64_t> due_us;
  for (const auto& [id, connection] : connections_) {
    if (!connection.has_waiting_ack) continue;
    const int64_t one_us = connection.heard_us + kAckWaitUs;
    due_us = std::min(due_us.value_or(one_us), one_us);
  }
  return due_us;
}

void Feeds::TakeMessages(int64_t now_us, Messages* messages) {
  now_us_ = now_us;
  messages->feed_ends = std::exchange(ends_, {});
  for (auto& [id, connection] : connections_) {
    connection.has_waiting_ack = false;
    if (!connection.session->AwaitReady()) continue;
    AddDeltas(id, &connection);
    AddNominations(id, &connection);
    const FeedNews& news = connection.news;
    if (news.IsSilent() && news.batches == 0) continue;
    connection.has_waiting_ack = MayAckWait(id, connection);
    if (connection.has_waiting_ack) continue;
    // What does not fit in a message goes with the next one.
    const bool is_full = news.bytes >= kReplyBytesMax;
    messages->feed_news.push_back({connection.session,
                                   std::exchange(connection.news, FeedNews()),
                                   is_full});
  }
  messages->released = std::exchange(released_, {});
}

void Feeds::Release(FeedSession* session, int64_t now_us) {
  Close(session, now_us);
  released_.push_back(session);
}

void Feeds::AddDeltas(FeedId feed, Connection* connection) {
  if (!state_.feeds().at(feed).is_live) return;
  const uint64_t open = scheduler_.FirstOpenDelta();
  const auto& sequences = state_.SequencesOf(feed);
  size_t& bytes = connection->news.bytes;
  for (auto it = sequences.upper_bound(connection->told);
       it != sequences.end() && *it < open && bytes < kReplyBytesMax &&
       connection->deliveries.open_count() < kFeedDeltasUnconfirmedMax;
       ++it) {
    const Delta& delta = state_.outbox().at(*it);
    const Task& task = *state_.FindTask(delta.task);
    const auto [machine, resource_uuid] = DestinationOf(delta, state_);
    FeedNews::Entry entry = {.sequence = *it,
                             .task = task.client.feed_task_id,
                             .type = delta.type,
                             .machine = machine->uuid,
                             .resource = *resource_uuid};
    bytes += kEntryBytes + entry.task.size() + entry.machine.size() +
             entry.resource.size();
    connection->news.deltas.push_back(std::move(entry));
    connection->deliveries.Begin(*it);
    connection->told = *it;
    metrics_.delta_deliveries.Increment();
    if (*it <= connection->told_max) metrics_.redelivered_deltas.Increment();
  }
  connection->told_max = std::max(connection->told_max, connection->told);
}

void Feeds::AddNominations(FeedId feed, Connection* connection) {
  const Nominations& nominations = state_.nominations();
  // A round drops all of them for a while.
  if (connection->nominations_told == nominations.changes() ||
      scheduler_.is_in_round() || !state_.feeds().at(feed).is_live) {
    return;
  }
  absl::btree_map<std::string, std::string> now;
  for (const auto& [id, machine] : nominations.machines()) {
    const Task& task = *state_.FindTask(id);
    if (task.client.feed != feed) continue;
    now.emplace(task.client.feed_task_id, state_.FindMachine(machine)->uuid);
  }
  FeedNews& news = connection->news;
  auto& told = connection->nominated;
  const auto tell = [&](const std::string& task, const std::string& machine) {
    news.bytes += kEntryBytes + task.size() + machine.size();
    news.nominations.emplace_back(task, machine);
  };
  const auto& tasks = state_.feeds().at(feed).tasks;
  for (auto it = told.begin(); it != told.end();) {
    if (now.contains(it->first)) {
      ++it;
      continue;
    }
    if (news.bytes >= kReplyBytesMax) return;
    // Other messages tell of tasks that were placed or are gone.
    const auto task = tasks.find(it->first);
    if (task != tasks.end() &&
        state_.FindTask(task->second)->state == TaskState::kPending) {
      tell(it->first, "");
    }
    it = told.erase(it);
  }
  for (const auto& [id, machine] : now) {
    std::string& known = told[id];
    if (known == machine) continue;
    if (news.bytes >= kReplyBytesMax) return;
    tell(id, machine);
    known = machine;
  }
  connection->nominations_told = nominations.changes();
}

bool Feeds::AreAnyServed() const {
  return std::ranges::any_of(connections_, [&](const auto& one) {
    return !state_.feeds().at(one.first).is_standby;
  });
}

bool Feeds::MayDrain() const {
  return AreAnyServed() &&
         (has_changed_ || scheduler_.round_stats().undrained > 0) &&
         std::ranges::any_of(state_.draining(), [&](MachineId id) {
           const Machine& machine = *state_.FindMachine(id);
           return machine.is_present && !machine.tasks.empty();
         });
}

std::optional<int64_t> Feeds::MovesDueUs() const {
  if (MayDrain()) return round_end_us_ + kRetryUs;
  if (!scheduler_.moves_what_runs() || !AreAnyServed()) {
    return std::nullopt;
  }
  return round_end_us_ + RebalanceTimer::kChangedMs * 1000;
}

std::optional<int64_t> Feeds::RoundDueUs() const {
  const bool may_evict =
      (scheduler_.evicts_on_no_execute() || state_.rules().AreAnyKept()) &&
      AreAnyServed();
  if (state_.feed_pending_count() == 0 && !may_evict) return MovesDueUs();
  return round_end_us_ + (has_changed_ ? rest_us_ : kRetryUs);
}

void Feeds::NoteRoundStart(int64_t now_us) {
  has_changed_ = false;
  round_start_us_ = now_us;
}

void Feeds::NoteRoundEnd(int64_t now_us) {
  round_end_us_ = now_us;
  rest_us_ =
      std::max(options_.round_interval_us,
               std::min(kRestRatio * (now_us - round_start_us_), kRestMaxUs));
}

std::vector<FeedStatus> Feeds::List() const {
  std::vector<FeedStatus> list;
  for (const auto& [id, feed] : state_.feeds()) {
    FeedStatus status;
    status.name = feed.name;
    status.term = feed.term;
    status.tasks = static_cast<int64_t>(feed.tasks.size());
    status.untold_deltas = static_cast<int64_t>(state_.SequencesOf(id).size());
    if (const auto it = connections_.find(id); it != connections_.end()) {
      status.state = feed.is_live ? FeedStatus::State::kLive
                     : feed.phase == FeedPhase::kInSnapshot
                         ? FeedStatus::State::kSnapshot
                     : feed.is_standby ? FeedStatus::State::kStandby
                                       : FeedStatus::State::kSettling;
      status.since_us = it->second.since_us;
      status.unconfirmed_deltas = it->second.deliveries.CountStanding(id);
      status.untold_deltas -= status.unconfirmed_deltas;
    } else {
      const auto lost = lost_us_.find(id);
      status.since_us = lost == lost_us_.end() ? 0 : lost->second;
      status.state = now_us_ - status.since_us > options_.grace_us
                         ? FeedStatus::State::kAway
                         : FeedStatus::State::kLost;
    }
    list.push_back(std::move(status));
  }
  return list;
}

Feeds::Connection* Feeds::Find(const FeedSession& session, FeedId* feed) {
  for (auto& [id, connection] : connections_) {
    if (connection.session != &session) continue;
    *feed = id;
    return &connection;
  }
  return nullptr;
}

void Feeds::TakeBackDeltas(Connection* connection) {
  connection->deliveries.TakeBack();
  connection->told = 0;
}

}  // namespace sluice
