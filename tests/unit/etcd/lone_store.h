// A store on etcd that leads by itself as long as it is open.

#ifndef SLUICE_TESTS_UNIT_ETCD_LONE_STORE_H_
#define SLUICE_TESTS_UNIT_ETCD_LONE_STORE_H_

#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_leadership.h"
#include "etcd/etcd_store.h"
#include "sluice/base/clock.h"

namespace sluice {

// Owns what an EtcdStore borrows.
class LoneStore final : public Store {
 public:
  LoneStore(std::unique_ptr<EtcdClient> client, EtcdLeadershipOptions options)
      : client_(std::move(client)),
        leadership_(*client_, clock_, std::move(options)) {}

  absl::Status Init(int64_t vacancy_timeout_ms) {
    RETURN_IF_ERROR(
        Annotate(Lead(vacancy_timeout_ms), ToString(client_->address())));
    ASSIGN_OR_RETURN(store_, OpenEtcdStore(*client_, leadership_.fence()));
    return absl::OkStatus();
  }

  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    return store_->Write(batch, durability);
  }
  absl::Status Scan(std::string_view prefix, Visitor visit) const override {
    return store_->Scan(prefix, visit);
  }
  std::string description() const override { return store_->description(); }

 private:
  absl::Status Lead(int64_t vacancy_timeout_ms) {
    const int64_t end_us = clock_.MonotonicUs() + vacancy_timeout_ms * 1000;
    for (;;) {
      ASSIGN_OR_RETURN(const bool leads, leadership_.Campaign());
      if (leads) return absl::OkStatus();
      const int64_t left_ms = (end_us - clock_.MonotonicUs()) / 1000;
      if (left_ms <= 0) {
        return absl::FailedPreconditionError(
            StrCat("is held by '", Printable(leadership_.holder(), 256), "'"));
      }
      // If that is not known, the next campaign will tell.
      absl::Status wait = leadership_.AwaitVacancy(left_ms);
      if (!wait.ok() && !absl::IsUnavailable(wait) &&
          !absl::IsDeadlineExceeded(wait)) {
        return wait;
      }
    }
  }

  const SystemClock clock_;
  const std::unique_ptr<EtcdClient> client_;
  EtcdLeadership leadership_;
  std::unique_ptr<Store> store_;
};

struct LoneStoreOptions {
  EtcdClientOptions client;
  EtcdLeadershipOptions leadership;
  // How long to wait until another holder has gone.
  int64_t vacancy_timeout_ms = 0;
};

// Errors: also kFailedPrecondition, naming the holder, if somebody else leads.
inline absl::StatusOr<std::unique_ptr<Store>> OpenLoneStore(
    const LoneStoreOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<EtcdClient> client,
                   EtcdClient::Make(options.client));
  auto store =
      std::make_unique<LoneStore>(std::move(client), options.leadership);
  RETURN_IF_ERROR(store->Init(options.vacancy_timeout_ms));
  return store;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ETCD_LONE_STORE_H_
