// Bytes as the lives of three clients of feeds: what they state, in any order,
// with gaps and repeats in their numbers, which deltas they confirm, and when
// their calls break off; with rounds between, and a daemon that begins anew
// from its store.
//
// Nothing may crash, the state may contradict itself at no time, and a client
// is told of tasks only that it has stated and not taken back.

#include <glog/logging.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "clients/feeds.h"
#include "observe/metrics.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "rpc/feed_protocol.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ == size_; }
  // 0 at the end.
  uint8_t Next() { return empty() ? uint8_t{0} : data_[at_++]; }

 private:
  const uint8_t* const data_;
  const size_t size_;
  size_t at_ = 0;
};

class Session final : public FeedSession {
 public:
  explicit Session(const ClusterState& state) : state_(state) {}

  bool AwaitReady() override { return is_ready; }
  void Tell(FeedNews news) override {
    for (const FeedNews::Entry& delta : news.deltas) {
      const auto it = state_.outbox().find(delta.sequence);
      CHECK(it != state_.outbox().end());
      CHECK_EQ(state_.FindTask(it->second.task)->client.feed_task_id,
               delta.task);
    }
    CHECK(news.IsSilent() || !is_over);
  }
  void End(const absl::Status& status) override {
    CHECK(!status.ok());
    is_over = true;
  }
  void Release() override {}

  FeedProtocol protocol{{.max_pods = 4}};
  uint64_t sequence = 0;
  bool is_ready = true;
  bool is_over = false;

 private:
  const ClusterState& state_;
};

class Target {
 public:
  explicit Target(Bytes bytes) : bytes_(bytes) { Begin(); }

  void Run() {
    while (!bytes_.empty()) {
      Step();
      Publish();
      CHECK_EQ(FindContradiction(scheduler_->state()), "");
    }
  }

 private:
  void Step() {
    const uint8_t choice = bytes_.Next();
    auto& session = sessions_[choice % 3];
    switch (choice / 3 % 8) {
      case 0:
        if (session != nullptr) Close(&session);
        return;
      case 1:
        scheduler_->Round();
        return;
      case 2:
        if (bytes_.Next() % 4 == 0) Begin();
        return;
      case 3:
        if (session != nullptr) session->is_ready = !session->is_ready;
        return;
      case 4:
        feeds_->Tend(0, now_us_ += bytes_.Next() * 1000000);
        return;
      default:
        if (session == nullptr) {
          session = std::make_unique<Session>(scheduler_->state());
        }
        Request(choice % 3, &session);
    }
  }

  void Request(int client, std::unique_ptr<Session>* session) {
    v1::FeedRequest request;
    // Two of them may have one name.
    request.set_feed(StrCat("feed-", client / 2));
    if (bytes_.Next() % 4 == 0) request.set_deltas_received(bytes_.Next());
    for (int events = bytes_.Next() % 8; events > 0; --events) {
      const uint8_t choice = bytes_.Next();
      v1::FeedEvent* event = request.add_events();
      event->set_sequence(choice == 255 ? bytes_.Next()
                                        : ++(*session)->sequence);
      Fill(choice, event);
    }
    absl::StatusOr<FeedBatch> batch = (*session)->protocol.Take(request);
    if (!batch.ok()) return Close(session);
    if (!(*session)->protocol.has_begun()) return;
    feeds_->Take(session->get(), *std::move(batch), 0, now_us_);
    if ((*session)->is_over) Close(session);
  }

  void Fill(uint8_t choice, v1::FeedEvent* event) {
    const std::string task = StrCat("t", bytes_.Next() % 6);
    const std::string machine = StrCat("m", choice / 16 % 4);
    switch (choice % 16) {
      case 0:
      case 1:
        if (bytes_.Next() % 4 == 0) {
          event->mutable_begin_snapshot()->set_is_standby(true);
        } else {
          SetTerm(event->mutable_begin_snapshot()->mutable_term());
        }
        return;
      case 2:
      case 3:
        event->mutable_end_snapshot();
        return;
      case 4:
      case 5:
        FillMachine(machine, event->mutable_machine());
        return;
      case 6:
        event->mutable_machine_gone()->set_machine(machine);
        return;
      case 7:
        event->mutable_task_ended()->set_id(task);
        return;
      case 8:
        event->mutable_task_gone()->set_id(task);
        return;
      case 9:
        event->mutable_bind_failed()->set_id(task);
        event->mutable_bind_failed()->set_machine(machine);
        return;
      case 10:
        if (choice % 32 == 10) return;  // Of no kind.
        SetTerm(event->mutable_leads()->mutable_term());
        return;
      default:
        event->mutable_task()->set_id(task);
        FillTask(machine, event->mutable_task());
    }
  }

  void SetTerm(v1::FeedTerm* term) {
    const uint8_t choice = bytes_.Next();
    if (choice % 4 == 0) return;
    term->set_lease(StrCat("lease ", choice % 2));
    term->set_number(choice / 4 % 8);
    if (choice >= 128) term->set_settle_ms(bytes_.Next() * 1000);
  }

  void FillMachine(const std::string& uuid,
                   firmament::ResourceTopologyNodeDescriptor* tree) {
    tree->mutable_resource_desc()->set_uuid(uuid);
    tree->mutable_resource_desc()->mutable_available_resources()->set_cpu_cores(
        static_cast<float>(bytes_.Next()));
    if (bytes_.Next() % 2 == 0) return;
    // Uuids that another machine may have.
    firmament::ResourceDescriptor* pu =
        tree->add_children()->mutable_resource_desc();
    pu->set_type(firmament::ResourceDescriptor::RESOURCE_PU);
    pu->set_uuid(StrCat("p", bytes_.Next() % 3));
  }

  void FillTask(const std::string& machine, v1::TaskStated* task) {
    const uint8_t choice = bytes_.Next();
    if (choice % 4 == 0) task->set_runs_on(machine);
    task->set_is_foreign(choice % 32 == 0);
    firmament::TaskDescriptor* description =
        task->mutable_description()->mutable_task_descriptor();
    description->set_job_id(StrCat("job", choice / 32 % 2));
    description->mutable_resource_request()->set_cpu_cores(
        static_cast<float>(bytes_.Next()) - 8);
    if (choice / 64 != 0) return;
    task->mutable_description()
        ->mutable_job_descriptor()
        ->set_is_gang_scheduling_job(true);
  }

  void Close(std::unique_ptr<Session>* session) {
    feeds_->Release(session->get(), now_us_);
    Send();
    session->reset();
  }

  // From what is in the store.
  void Begin() {
    for (std::unique_ptr<Session>& session : sessions_) session.reset();
    feeds_.reset();
    scheduler_ = std::make_unique<TestScheduler>();
    const absl::Status status = Recover(store_, &scheduler_->mutable_state());
    CHECK(status.ok()) << status;
    feeds_.emplace(&scheduler_->mutable_state(), scheduler_->scheduler(),
                   metrics(), Feeds::Options());
  }

  void Publish() {
    ClusterState& state = scheduler_->mutable_state();
    if (state.has_changes()) {
      const ChangeSet changes = state.TakeChanges();
      CHECK(store_.Write(EncodeChanges(state, changes), Durability::kBuffered)
                .ok());
    }
    Send();
    for (std::unique_ptr<Session>& session : sessions_) {
      if (session != nullptr && session->is_over) Close(&session);
    }
  }

  void Send() {
    Messages messages;
    feeds_->TakeMessages(now_us_, &messages);
    SendToFeeds(&messages);
  }

  static Metrics& metrics() {
    static Metrics metrics;
    return metrics;
  }

  Bytes bytes_;
  MemoryStore store_;
  std::unique_ptr<TestScheduler> scheduler_;
  std::optional<Feeds> feeds_;
  std::array<std::unique_ptr<Session>, 3> sessions_;
  int64_t now_us_ = 0;
};

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FLAGS_minloglevel = google::GLOG_ERROR;
  sluice::Target(sluice::Bytes(data, size)).Run();
  return 0;
}
