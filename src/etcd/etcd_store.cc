#include "etcd/etcd_store.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/rpc.pb.h"
#include "sluice/base/clock.h"

namespace sluice {
namespace {

using etcdserverpb::Compare;
using etcdserverpb::RangeRequest;
using etcdserverpb::RangeResponse;
using etcdserverpb::RequestOp;
using etcdserverpb::TxnRequest;
using etcdserverpb::TxnResponse;

constexpr std::string_view kFormat = "1";

// etcd's defaults are 128 operations and 1.5 MiB; comparisons and the record of
// the sequence or of the commit come on top of these.
constexpr int kOperationsMax = 126;
constexpr size_t kBytesMax = 1000000;
// A transaction in one may have as many operations as the outer one leaves of
// the 128, so that 60 of 60 are allowed; they happen at once like others.
constexpr int kNestedMax = 60;
constexpr size_t kOperationsNestedMax = size_t{kNestedMax} * kNestedMax;
// Of a value in one piece; two pieces fit into a transaction.
constexpr size_t kPartBytes = 480 << 10;
constexpr size_t kPartNumberBytes = 4;

// A scan asks for as many keys as were about so many bytes before.
constexpr int64_t kPageBytes = 1 << 20;
constexpr int64_t kPageKeysMin = 1;
constexpr int64_t kPageKeysFirst = 64;
constexpr int64_t kPageKeysMax = 8192;
constexpr int kScanTries = 3;

// After so many writes or bytes, what was overwritten before the last time is
// compacted: etcd keeps some minutes of a busy cluster, and much less than its
// quota of 2 GiB.
constexpr int64_t kWritesPerCompaction = 5000;
constexpr size_t kBytesPerCompaction = 64 << 20;

// The first key after all that begin with `prefix`, which ends with a slash or
// is followed by bytes that do not matter.
std::string EndOf(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

// In big-endian bytes, so that they sort by number.
std::string PartNumber(uint32_t number) {
  std::string bytes(kPartNumberBytes, '\0');
  for (size_t i = kPartNumberBytes; i > 0; --i, number >>= 8) {
    bytes[i - 1] = static_cast<char>(number & 0xff);
  }
  return bytes;
}

// In eight digits, so that they sort by number.
std::string ChunkNumber(size_t number) {
  std::string digits = StrCat(number);
  return std::string(8 - std::min<size_t>(digits.size(), 8), '0') + digits;
}

RequestOp PutOf(std::string key, std::string value) {
  RequestOp operation;
  etcdserverpb::PutRequest& put = *operation.mutable_request_put();
  put.set_key(std::move(key));
  put.set_value(std::move(value));
  return operation;
}

RequestOp DeleteOf(std::string key, std::string end = "") {
  RequestOp operation;
  etcdserverpb::DeleteRangeRequest& request =
      *operation.mutable_request_delete_range();
  request.set_key(std::move(key));
  request.set_range_end(std::move(end));
  return operation;
}

RequestOp GetOf(const std::string& key) {
  RequestOp operation;
  operation.mutable_request_range()->set_key(key);
  return operation;
}

// That `key` has `value`; where there is none, that it does not exist.
Compare HasValue(const std::string& key,
                 const std::optional<std::string>& value) {
  Compare compare;
  compare.set_key(key);
  if (value.has_value()) {
    compare.set_target(Compare::VALUE);
    compare.set_value(*value);
  } else {
    compare.set_target(Compare::CREATE);
    compare.set_create_revision(0);
  }
  return compare;
}

// Whether the revision that was to be read is history that is gone.
bool IsCompacted(const absl::Status& status) {
  return status.code() == absl::StatusCode::kOutOfRange;
}

// In order, as many operations in each as a transaction takes, or fewer.
std::vector<TxnRequest> Chunked(std::vector<RequestOp> operations,
                                int operations_max = kOperationsMax) {
  std::vector<TxnRequest> chunks;
  size_t bytes = 0;
  for (RequestOp& operation : operations) {
    const size_t size = operation.ByteSizeLong() + 8;
    if (chunks.empty() || chunks.back().success_size() == operations_max ||
        bytes + size > kBytesMax) {
      chunks.emplace_back();
      bytes = 0;
    }
    bytes += size;
    *chunks.back().add_success() = std::move(operation);
  }
  return chunks;
}

// What the reply to the `index`-th read of a transaction found, if anything.
const mvccpb::KeyValue* Found(const TxnResponse& response, int index) {
  if (index >= response.responses_size()) return nullptr;
  const RangeResponse& range = response.responses(index).response_range();
  return range.kvs_size() > 0 ? &range.kvs(0) : nullptr;
}

class EtcdStore final : public Store {
 public:
  EtcdStore(EtcdClient& client, Fence fence)
      : client_(client),
        fence_(std::move(fence)),
        name_(ToString(client.address())),
        top_(client.address().prefix + "/"),
        term_(StrCat(fence_.create_revision)) {}

  // Takes the store over, and ends what others left.
  absl::Status Init();

  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  std::string description() const override { return name_; }

 private:
  std::string Key(std::string_view area, std::string_view key = "") const {
    return StrCat(top_, area, key);
  }

  std::vector<RequestOp> OperationsOf(const WriteBatch& batch);
  void AddOperation(std::string_view key,
                    const std::optional<std::string>& value,
                    std::vector<RequestOp>* operations);

  // A transaction that is done only while we lead; the first read of its
  // failure is the leader's key.
  TxnRequest Fenced() const;
  // Makes `request` the one that ends batch `next`.
  void Advance(const std::string& next, TxnRequest* request) const;
  // OK if it was done, now or before its answer was lost.
  absl::Status CheckAdvance(const std::string& next,
                            const TxnResponse& response);
  absl::Status Deposed(const TxnResponse& response) const;

  absl::Status WriteAtOnce(std::vector<RequestOp> operations);
  absl::Status WriteStaged(std::vector<RequestOp> operations);
  absl::Status Stage(const std::string& id,
                     const std::vector<TxnRequest>& chunks,
                     const std::string& commit);
  // Of a batch that is committed: puts it in its places, and forgets it.
  absl::Status Apply(std::vector<TxnRequest> chunks, const std::string& commit);
  absl::Status Forget(const std::string& id, const std::string& commit);
  absl::Status RollForward(const std::string& commit);
  void Compact();

  // Keys whose values are kept in parts, and in how many: hardly ever any.
  using Parts = absl::btree_map<std::string, uint32_t, std::less<>>;

  // Reads all below `first`, in pages, at `request`'s revision; if that is 0,
  // at that of now, to which it is set.
  using EntryVisitor = absl::FunctionRef<absl::Status(mvccpb::KeyValue&)>;
  absl::Status Read(std::string first, RangeRequest* request,
                    EntryVisitor visit) const;
  absl::StatusOr<Parts> FindParts(int64_t* revision) const;
  absl::StatusOr<std::string> JoinParts(std::string_view key, uint32_t count,
                                        int64_t revision) const;

  EtcdClient& client_;
  const Fence fence_;
  const std::string name_;
  const std::string top_;  // Of all keys.
  const std::string term_;
  std::optional<std::string> sequence_;  // Of the last write, as it is stored.
  int64_t number_ = 0;                   // In it.
  Parts parts_;

  int64_t writes_ = 0;  // Since history was last compacted.
  size_t bytes_ = 0;
  int64_t revision_ = 0;
  int64_t compacted_next_ = 0;
  absl::Status failure_;  // Of the first write that failed.
};

TxnRequest EtcdStore::Fenced() const {
  TxnRequest request;
  Compare& compare = *request.add_compare();
  compare.set_target(Compare::CREATE);
  compare.set_key(fence_.key);
  compare.set_create_revision(fence_.create_revision);
  *request.add_failure() = GetOf(fence_.key);
  return request;
}

absl::Status EtcdStore::Deposed(const TxnResponse& response) const {
  const mvccpb::KeyValue* leader = Found(response, 0);
  if (leader == nullptr) {
    return absl::AbortedError(
        StrCat("deposed: the lease on ", name_, " has ended"));
  }
  if (leader->create_revision() == fence_.create_revision) {
    return absl::DataLossError(
        StrCat(name_, " was written by something else than its leader"));
  }
  return absl::AbortedError(
      StrCat("deposed: '", Printable(leader->value(), 256), "' holds ", name_));
}

void EtcdStore::Advance(const std::string& next, TxnRequest* request) const {
  const std::string key = Key("sequence");
  *request->add_compare() = HasValue(key, sequence_);
  *request->add_success() = PutOf(key, next);
  *request->add_failure() = GetOf(key);
}

absl::Status EtcdStore::CheckAdvance(const std::string& next,
                                     const TxnResponse& response) {
  if (!response.succeeded()) {
    const mvccpb::KeyValue* leader = Found(response, 0);
    const mvccpb::KeyValue* sequence = Found(response, 1);
    // The numbers of this term are ours alone.
    if (leader == nullptr ||
        leader->create_revision() != fence_.create_revision ||
        sequence == nullptr || sequence->value() != next) {
      return Deposed(response);
    }
  }
  sequence_ = next;
  revision_ = response.header().revision();
  return absl::OkStatus();
}

absl::Status EtcdStore::Init() {
  TxnRequest look = Fenced();
  for (const char* area : {"format", "sequence", "commit"}) {
    *look.add_success() = GetOf(Key(area));
  }
  RequestOp data = GetOf(Key("data/"));
  data.mutable_request_range()->set_range_end(EndOf(Key("data/")));
  data.mutable_request_range()->set_limit(1);
  *look.add_success() = std::move(data);
  ASSIGN_OR_RETURN(const TxnResponse found, client_.Txn(look));
  if (!found.succeeded()) return Deposed(found);
  const mvccpb::KeyValue* format = Found(found, 0);
  if (format != nullptr && format->value() != kFormat) {
    return absl::FailedPreconditionError(
        StrCat("has format '", Printable(format->value(), 64),
               "', and this version reads format ", kFormat));
  }
  if (format == nullptr && Found(found, 3) != nullptr) {
    return absl::FailedPreconditionError(
        "has data without a format; whose prefix is it?");
  }

  if (const mvccpb::KeyValue* sequence = Found(found, 1)) {
    sequence_ = sequence->value();
  }
  TxnRequest take_over = Fenced();
  const std::string first = StrCat(term_, "-0");
  Advance(first, &take_over);
  if (format == nullptr) {
    *take_over.add_success() = PutOf(Key("format"), std::string(kFormat));
  }
  ASSIGN_OR_RETURN(const TxnResponse taken, client_.Txn(take_over));
  RETURN_IF_ERROR(CheckAdvance(first, taken));

  if (const mvccpb::KeyValue* commit = Found(found, 2)) {
    RETURN_IF_ERROR(RollForward(commit->value()));
  }
  TxnRequest sweep = Fenced();
  *sweep.add_success() = DeleteOf(Key("staged/"), EndOf(Key("staged/")));
  ASSIGN_OR_RETURN(const TxnResponse swept, client_.Txn(sweep));
  if (!swept.succeeded()) return Deposed(swept);
  int64_t revision = 0;
  ASSIGN_OR_RETURN(parts_, FindParts(&revision));
  return absl::OkStatus();
}

void EtcdStore::AddOperation(std::string_view key,
                             const std::optional<std::string>& value,
                             std::vector<RequestOp>* operations) {
  const auto it = parts_.find(key);
  const uint32_t parts_before = it == parts_.end() ? 0 : it->second;
  uint32_t parts = 0;
  std::string part_key = Key("parts/", key);
  if (value.has_value() && value->size() > kPartBytes) {
    for (size_t at = 0; at < value->size(); at += kPartBytes, ++parts) {
      operations->push_back(
          PutOf(part_key + PartNumber(parts), value->substr(at, kPartBytes)));
    }
    operations->push_back(PutOf(Key("data/", key), ""));
  } else if (value.has_value()) {
    operations->push_back(PutOf(Key("data/", key), *value));
  } else {
    operations->push_back(DeleteOf(Key("data/", key)));
  }
  for (uint32_t part = parts; part < parts_before; ++part) {
    operations->push_back(DeleteOf(part_key + PartNumber(part)));
  }
  if (parts > 0) {
    parts_.insert_or_assign(std::string(key), parts);
  } else if (it != parts_.end()) {
    parts_.erase(it);
  }
}

std::vector<RequestOp> EtcdStore::OperationsOf(const WriteBatch& batch) {
  // No transaction may write a key twice: the last one counts.
  absl::btree_map<std::string_view, const WriteBatch::Operation*> last;
  for (const WriteBatch::Operation& operation : batch.operations()) {
    last[operation.key] = &operation;
  }
  std::vector<RequestOp> operations;
  operations.reserve(last.size());
  for (const auto& [key, operation] : last) {
    AddOperation(key, operation->value, &operations);
  }
  return operations;
}

absl::Status EtcdStore::Write(const WriteBatch& batch,
                              Durability /*durability*/) {
  if (!failure_.ok() || batch.empty()) return failure_;
  std::vector<RequestOp> operations = OperationsOf(batch);
  size_t bytes = 0;
  for (const RequestOp& operation : operations) {
    bytes += operation.ByteSizeLong();
  }
  writes_ += 1;
  bytes_ += bytes;
  failure_ = operations.size() <= kOperationsNestedMax && bytes <= kBytesMax
                 ? WriteAtOnce(std::move(operations))
                 : WriteStaged(std::move(operations));
  if (failure_.ok()) Compact();
  return failure_;
}

absl::Status EtcdStore::WriteAtOnce(std::vector<RequestOp> operations) {
  const std::string next = StrCat(term_, "-", ++number_);
  TxnRequest request = Fenced();
  Advance(next, &request);
  if (operations.size() <= kOperationsMax) {
    for (RequestOp& operation : operations) {
      *request.add_success() = std::move(operation);
    }
  } else {
    for (TxnRequest& some : Chunked(std::move(operations), kNestedMax)) {
      *request.add_success()->mutable_request_txn() = std::move(some);
    }
  }
  ASSIGN_OR_RETURN(const TxnResponse response, client_.Txn(request));
  return CheckAdvance(next, response);
}

absl::Status EtcdStore::WriteStaged(std::vector<RequestOp> operations) {
  const std::string id = StrCat(term_, "-", ++number_);
  std::vector<TxnRequest> chunks = Chunked(std::move(operations));
  const std::string commit = StrCat(id, " ", chunks.size());
  RETURN_IF_ERROR(Stage(id, chunks, commit));
  RETURN_IF_ERROR(Apply(std::move(chunks), commit));
  return Forget(id, commit);
}

absl::Status EtcdStore::Stage(const std::string& id,
                              const std::vector<TxnRequest>& chunks,
                              const std::string& commit) {
  std::vector<RequestOp> puts;
  for (size_t i = 0; i < chunks.size(); ++i) {
    puts.push_back(PutOf(Key("staged/", StrCat(id, "/", ChunkNumber(i))),
                         chunks[i].SerializeAsString()));
  }
  // What of this arrives late is not of the next batch, and is swept once.
  std::vector<TxnRequest> stages;
  for (const TxnRequest& some : Chunked(std::move(puts))) {
    stages.push_back(Fenced());
    *stages.back().mutable_success() = some.success();
  }
  TxnRequest last = std::move(stages.back());
  stages.pop_back();
  ASSIGN_OR_RETURN(const std::vector<TxnResponse> staged,
                   client_.TxnAll(stages));
  for (const TxnResponse& response : staged) {
    if (!response.succeeded()) return Deposed(response);
  }
  Advance(id, &last);
  *last.add_success() = PutOf(Key("commit"), commit);
  ASSIGN_OR_RETURN(const TxnResponse committed, client_.Txn(last));
  return CheckAdvance(id, committed);
}

absl::Status EtcdStore::Apply(std::vector<TxnRequest> chunks,
                              const std::string& commit) {
  for (TxnRequest& chunk : chunks) {
    TxnRequest request = Fenced();
    *request.add_compare() = HasValue(Key("commit"), commit);
    request.mutable_success()->Swap(chunk.mutable_success());
    chunk = std::move(request);
  }
  ASSIGN_OR_RETURN(const std::vector<TxnResponse> applied,
                   client_.TxnAll(chunks));
  for (const TxnResponse& response : applied) {
    if (!response.succeeded()) return Deposed(response);
  }
  return absl::OkStatus();
}

absl::Status EtcdStore::Forget(const std::string& id,
                               const std::string& commit) {
  const std::string staged = Key("staged/", id + "/");
  TxnRequest request = Fenced();
  *request.add_compare() = HasValue(Key("commit"), commit);
  *request.add_success() = DeleteOf(Key("commit"));
  *request.add_success() = DeleteOf(staged, EndOf(staged));
  *request.add_failure() = GetOf(Key("commit"));
  ASSIGN_OR_RETURN(const TxnResponse response, client_.Txn(request));
  if (response.succeeded()) return absl::OkStatus();
  // It may have been done before its answer was lost.
  const mvccpb::KeyValue* leader = Found(response, 0);
  if (leader != nullptr &&
      leader->create_revision() == fence_.create_revision &&
      Found(response, 1) == nullptr) {
    return absl::OkStatus();
  }
  return Deposed(response);
}

absl::Status EtcdStore::RollForward(const std::string& commit) {
  const size_t space = std::min(commit.find(' '), commit.size());
  const std::string id = commit.substr(0, space);
  size_t count = 0;
  std::from_chars(commit.data() + std::min(space + 1, commit.size()),
                  commit.data() + commit.size(), count);
  std::vector<TxnRequest> chunks;
  RangeRequest request;
  RETURN_IF_ERROR(
      Read(Key("staged/", id + "/"), &request, [&](mvccpb::KeyValue& chunk) {
        if (chunks.emplace_back().ParseFromString(chunk.value())) {
          return absl::OkStatus();
        }
        return absl::DataLossError(
            StrCat("chunk '", Printable(chunk.key(), 256), "' is damaged"));
      }));
  if (count == 0 || chunks.size() != count) {
    return absl::DataLossError(StrCat("batch '", Printable(commit, 64),
                                      "' is committed, and ", chunks.size(),
                                      " chunks of it are there"));
  }
  LOG(INFO) << name_ << ": ends batch " << id << " of a former leader";
  RETURN_IF_ERROR(Apply(std::move(chunks), commit));
  return Forget(id, commit);
}

void EtcdStore::Compact() {
  if (writes_ < kWritesPerCompaction && bytes_ < kBytesPerCompaction) return;
  writes_ = 0;
  bytes_ = 0;
  const int64_t revision = std::exchange(compacted_next_, revision_);
  if (revision == 0) return;
  const absl::Status status = client_.Compact(revision);
  // Where it is gone already somebody else has done it.
  LOG_IF(WARNING, !status.ok() && !IsCompacted(status)) << status.message();
}

absl::Status EtcdStore::Read(std::string first, RangeRequest* request,
                             EntryVisitor visit) const {
  request->set_range_end(EndOf(first));
  for (int64_t limit = kPageKeysFirst;;) {
    request->set_key(std::move(first));
    request->set_limit(limit);
    ASSIGN_OR_RETURN(RangeResponse page, client_.Range(*request));
    if (request->revision() == 0) {
      request->set_revision(page.header().revision());
    }
    int64_t bytes = 1;
    for (mvccpb::KeyValue& entry : *page.mutable_kvs()) {
      bytes += static_cast<int64_t>(entry.key().size() + entry.value().size());
      RETURN_IF_ERROR(visit(entry));
    }
    if (!page.more() || page.kvs_size() == 0) return absl::OkStatus();
    first = page.kvs(page.kvs_size() - 1).key() + '\0';
    limit = std::clamp(page.kvs_size() * kPageBytes / bytes, kPageKeysMin,
                       std::min(limit * 8, kPageKeysMax));
  }
}

absl::StatusOr<EtcdStore::Parts> EtcdStore::FindParts(int64_t* revision) const {
  Parts parts;
  const std::string first = Key("parts/");
  RangeRequest request;
  request.set_revision(*revision);
  request.set_keys_only(true);
  RETURN_IF_ERROR(Read(first, &request, [&](mvccpb::KeyValue& part) {
    std::string_view key = part.key();
    key.remove_prefix(first.size());
    if (key.size() < kPartNumberBytes) {
      return absl::DataLossError(StrCat(name_, " has a part of no value"));
    }
    key.remove_suffix(kPartNumberBytes);
    ++parts[std::string(key)];
    return absl::OkStatus();
  }));
  *revision = request.revision();
  return parts;
}

absl::StatusOr<std::string> EtcdStore::JoinParts(std::string_view key,
                                                 uint32_t count,
                                                 int64_t revision) const {
  std::string value;
  for (uint32_t part = 0; part < count; ++part) {
    RangeRequest request;
    request.set_key(Key("parts/", key) + PartNumber(part));
    request.set_revision(revision);
    ASSIGN_OR_RETURN(const RangeResponse response, client_.Range(request));
    if (response.kvs_size() == 0) {
      return absl::DataLossError(StrCat("reading ", name_, ": part ", part,
                                        " of '", Printable(key, 64),
                                        "' is not there"));
    }
    value += response.kvs(0).value();
  }
  return value;
}

absl::Status EtcdStore::Scan(std::string_view prefix, Visitor visit) const {
  const size_t above = Key("data/").size();
  bool is_visited = false;
  const auto scan = [&]() -> absl::Status {
    // Not parts_, of which nobody knows after a write that failed.
    int64_t revision = 0;
    ASSIGN_OR_RETURN(const Parts parts, FindParts(&revision));
    RangeRequest request;
    request.set_revision(revision);
    return Read(Key("data/", prefix), &request,
                [&](mvccpb::KeyValue& entry) -> absl::Status {
                  is_visited = true;
                  std::string_view key = entry.key();
                  key.remove_prefix(above);
                  const auto it = parts.find(key);
                  if (it == parts.end()) return visit(key, entry.value());
                  ASSIGN_OR_RETURN(const std::string value,
                                   JoinParts(key, it->second, revision));
                  return visit(key, value);
                });
  };
  absl::Status status = scan();
  for (int tries = 1; tries < kScanTries && !is_visited && IsCompacted(status);
       ++tries) {
    status = scan();
  }
  if (!IsCompacted(status)) return status;
  return absl::UnavailableError(
      StrCat(status.message(),
             "; history was compacted while it was read: try again"));
}

// Owns what an EtcdStore borrows.
class LoneEtcdStore final : public Store {
 public:
  LoneEtcdStore(std::unique_ptr<EtcdClient> client,
                EtcdLeadershipOptions options)
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
      LOG(INFO) << ToString(client_->address()) << ": waits up to " << left_ms
                << " ms for '" << Printable(leadership_.holder(), 256)
                << "' to go";
      // Where that is not known the next campaign tells.
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

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenEtcdStore(EtcdClient& client,
                                                     const Fence& fence) {
  auto store = std::make_unique<EtcdStore>(client, fence);
  RETURN_IF_ERROR(Annotate(store->Init(), store->description()));
  return store;
}

absl::StatusOr<std::unique_ptr<Store>> OpenLoneEtcdStore(
    const LoneEtcdStoreOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<EtcdClient> client,
                   EtcdClient::Make(options.client));
  auto store =
      std::make_unique<LoneEtcdStore>(std::move(client), options.leadership);
  RETURN_IF_ERROR(store->Init(options.vacancy_timeout_ms));
  return store;
}

}  // namespace sluice
