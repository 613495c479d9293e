#include "etcd/etcd_store.h"

#include <glog/logging.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/etcd_compression.h"
#include "etcd/rpc.pb.h"

namespace sluice {
namespace {

using etcdserverpb::Compare;
using etcdserverpb::RangeRequest;
using etcdserverpb::RangeResponse;
using etcdserverpb::RequestOp;
using etcdserverpb::TxnRequest;
using etcdserverpb::TxnResponse;

constexpr std::string_view kFormat = "2";
// Nothing is compressed in it.  It becomes the other one with its next leader.
constexpr std::string_view kFormatBefore = "1";

// etcd's defaults are 128 operations and 1.5 MiB.  Comparisons, and the record
// that comes with some of them, are added to these.
constexpr int kOperationsMax = 126;
constexpr size_t kBytesMax = 1000000;
// The size of a part of a value; two parts fit into a transaction.
constexpr size_t kPartBytes = 480 << 10;

// The log is drained once it holds this much.  Most of it is overwritten or
// deleted again before that, and a new leader reads little more than that.
constexpr size_t kPendingOperations = 20000;
constexpr size_t kPendingBytes = 8 << 20;
// Once so much has come during a drain, writes wait for the drain.
constexpr size_t kPendingBytesMax = 64 << 20;

constexpr int kScanTries = 3;

// After so many writes or bytes, history from before the last time is
// compacted: etcd keeps some minutes of a busy cluster, and much less than its
// quota of 2 GiB.
constexpr int64_t kWritesPerCompaction = 5000;
constexpr size_t kBytesPerCompaction = 64 << 20;

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

// Compares whether `key` has `value`; without a value, whether it is absent.
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

// Whether the requested revision is gone, since history was compacted.
bool IsCompacted(const absl::Status& status) {
  return status.code() == absl::StatusCode::kOutOfRange;
}

// Splits `operations` in order; number and bytes limit each chunk.
std::vector<TxnRequest> Chunked(std::vector<RequestOp> operations,
                                int operations_max) {
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

// Values by key; nullopt for a key that is deleted.
using Changes =
    absl::btree_map<std::string, std::optional<std::string>, std::less<>>;

// What the `index`-th read of a transaction found; null if nothing.
const mvccpb::KeyValue* Found(const TxnResponse& response, int index) {
  if (index >= response.responses_size()) return nullptr;
  const RangeResponse& range = response.responses(index).response_range();
  return range.kvs_size() > 0 ? &range.kvs(0) : nullptr;
}

class EtcdStore final : public Store {
 public:
  EtcdStore(EtcdClient& client, Fence fence, std::optional<EtcdRecords> known)
      : client_(client),
        fence_(std::move(fence)),
        name_(ToString(client.address())),
        top_(client.address().prefix + "/"),
        term_(StrCat(fence_.create_revision)),
        known_(std::move(known)) {}
  ~EtcdStore() override {
    if (drain_ != nullptr && drain_->thread.joinable()) drain_->thread.join();
  }

  // Takes the store over and sets `found_head`, unless null, to the old head.
  absl::Status Init(std::string* found_head);

  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  std::string description() const override { return name_; }

 private:
  // Changes that a thread of their own puts into place.
  struct Drain {
    Changes changes;
    int64_t number = 0;   // The last chunk that they are in.
    absl::Status status;  // Set before is_done.
    std::atomic<bool> is_done = false;
    std::thread thread;
  };

  std::string Key(std::string_view area, std::string_view key = "") const {
    return StrCat(top_, area, key);
  }
  std::string LogKey(int64_t number) const {
    return Key("log/", ChunkNumber(number));
  }

  std::vector<RequestOp> OperationsOf(const WriteBatch& batch);
  void AddOperation(std::string_view key,
                    const std::optional<std::string>& value,
                    std::vector<RequestOp>* operations);

  // A transaction that is executed only while we lead; otherwise its first read
  // is the leader's key.
  TxnRequest Fenced() const;
  absl::Status Deposed(const TxnResponse& response) const;
  // Whether a transaction that failed was executed before, and its answer was
  // lost: we lead, and its second read is `value`.
  bool WasDone(const TxnResponse& response, std::string_view value) const;

  // Commits the chunks up to `next`, together with `request`.
  absl::Status Advance(int64_t next, TxnRequest request);
  absl::Status Append(std::vector<RequestOp> operations);
  absl::Status ReadLog();
  void ForgetUnlessNewEnough(int64_t tail);
  void Remember(RequestOp& operation);

  // Starts or ends a drain if it is time to.
  absl::Status DrainIfDue();
  absl::Status EndDrain();
  absl::Status Put(const Drain& drain) const;  // On the drain's thread.
  void Compact();

  // Reads all below `first` that is in place, as ReadValues() does, or from
  // known_.
  absl::Status ReadStored(const std::string& first, RangeRequest* request,
                          EntryVisitor visit) const;
  // The same, with the changes that are only in the log.
  absl::Status Read(const std::string& first, RangeRequest* request,
                    EntryVisitor visit) const;
  // Read() at a revision; at the current one if that is 0, which then becomes
  // it.
  absl::Status ReadAt(int64_t* revision, const std::string& first,
                      bool keys_only, EntryVisitor visit) const;

  EtcdClient& client_;
  const Fence fence_;
  const std::string name_;
  const std::string top_;  // All keys begin with it.
  const std::string term_;
  // What this store held when it was opened; nothing after a write.
  std::optional<EtcdRecords> known_;
  std::optional<std::string> head_;  // Both as they are stored.
  std::optional<std::string> tail_;
  int64_t number_ = 0;  // The last chunk of the log.
  PartCounts parts_;    // Hardly any value has parts.
  const EtcdCompressor compressor_;

  // Changes that are only in the log: new ones here, older ones in the drain.
  Changes pending_;
  size_t pending_bytes_ = 0;
  std::unique_ptr<Drain> drain_;

  int64_t writes_ = 0;  // Since history was last compacted.
  size_t bytes_ = 0;
  int64_t revision_ = 0;
  int64_t compacted_next_ = 0;
  absl::Status failure_;  // The error of the first failed write.
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
        StrCat(name_, " was written by something other than its leader"));
  }
  return absl::AbortedError(
      StrCat("deposed: '", Printable(leader->value(), 256), "' holds ", name_));
}

bool EtcdStore::WasDone(const TxnResponse& response,
                        std::string_view value) const {
  const mvccpb::KeyValue* leader = Found(response, 0);
  const mvccpb::KeyValue* found = Found(response, 1);
  return leader != nullptr &&
         leader->create_revision() == fence_.create_revision &&
         found != nullptr && found->value() == value;
}

absl::Status EtcdStore::Advance(int64_t next, TxnRequest request) {
  // Only we write this value, and only once.
  const std::string head = StrCat(term_, "-", next);
  *request.add_compare() = HasValue(Key("head"), head_);
  *request.add_success() = PutOf(Key("head"), head);
  *request.add_failure() = GetOf(Key("head"));
  ASSIGN_OR_RETURN(const TxnResponse response, client_.Txn(request));
  if (!response.succeeded() && !WasDone(response, head)) {
    return Deposed(response);
  }
  head_ = head;
  number_ = next;
  revision_ = response.header().revision();
  return absl::OkStatus();
}

absl::Status EtcdStore::Init(std::string* found_head) {
  TxnRequest look = Fenced();
  for (const char* area : {"format", "head", "tail"}) {
    *look.add_success() = GetOf(Key(area));
  }
  RequestOp data = GetOf(Key("data/"));
  data.mutable_request_range()->set_range_end(EndOf(Key("data/")));
  data.mutable_request_range()->set_limit(1);
  *look.add_success() = std::move(data);
  ASSIGN_OR_RETURN(const TxnResponse found, client_.Txn(look));
  if (!found.succeeded()) return Deposed(found);
  const mvccpb::KeyValue* format = Found(found, 0);
  if (format != nullptr && format->value() != kFormat &&
      format->value() != kFormatBefore) {
    return absl::FailedPreconditionError(StrCat(
        "has format '", Printable(format->value(), 64),
        "', but this version reads formats ", kFormatBefore, " and ", kFormat));
  }
  if (format == nullptr && Found(found, 3) != nullptr) {
    return absl::FailedPreconditionError(
        "has data without a format; whose prefix is it?");
  }

  int64_t head = 0;
  if (const mvccpb::KeyValue* value = Found(found, 1)) {
    head_ = value->value();
    head = NumberAfter('-', *head_);
    if (head < 0) {
      return absl::DataLossError(
          StrCat("head '", Printable(*head_, 64), "' is damaged"));
    }
  }
  if (const mvccpb::KeyValue* value = Found(found, 2)) tail_ = value->value();
  if (found_head != nullptr) *found_head = head_.value_or("");
  TxnRequest take_over = Fenced();
  if (format == nullptr || format->value() != kFormat) {
    *take_over.add_success() = PutOf(Key("format"), std::string(kFormat));
  }
  RETURN_IF_ERROR(Advance(head, std::move(take_over)));
  RETURN_IF_ERROR(ReadLog());
  int64_t revision = 0;
  ASSIGN_OR_RETURN(
      parts_, CountParts(top_, [&](const std::string& first, bool keys_only,
                                   EntryVisitor visit) {
        return ReadAt(&revision, first, keys_only, visit);
      }));
  return absl::OkStatus();
}

// Known records are of use only with the whole log from the tail on.
void EtcdStore::ForgetUnlessNewEnough(int64_t tail) {
  if (!known_.has_value()) return;
  bool is_of_use = tail <= known_->number && known_->number <= number_;
  for (int64_t number = tail + 1; is_of_use && number <= known_->number;
       ++number) {
    is_of_use = known_->log.contains(number);
  }
  if (is_of_use) return;
  LOG(INFO) << name_ << " is read from etcd: what was known of it is too old";
  known_.reset();
}

absl::Status EtcdStore::ReadLog() {
  const int64_t tail = tail_.has_value() ? NumberAfter('/', *tail_) : 0;
  int64_t expected = tail + 1;
  const auto read_chunk = [&](const std::string& key,
                              const std::string& value) -> absl::Status {
    const int64_t number = NumberAfter('/', key);
    // Such a chunk was never committed, or arrived too late.
    if (number > number_ || number <= tail) return absl::OkStatus();
    if (number != expected) {
      return absl::DataLossError(
          StrCat("chunk ", expected, " of the log is missing"));
    }
    ASSIGN_OR_RETURN(TxnRequest chunk, ParseChunk(number, value));
    ++expected;
    for (RequestOp& operation : *chunk.mutable_success()) Remember(operation);
    return absl::OkStatus();
  };
  ForgetUnlessNewEnough(tail);
  if (known_.has_value()) {
    while (expected <= known_->number) {
      RETURN_IF_ERROR(read_chunk(LogKey(expected), known_->log.at(expected)));
    }
    known_->log.clear();
  }
  RangeRequest request;
  request.set_key(LogKey(expected));
  request.set_range_end(EndOf(Key("log/")));
  RETURN_IF_ERROR(ReadPages(client_, &request, read_chunk));
  if (tail < 0 || expected != number_ + 1) {
    return absl::DataLossError(
        StrCat("the log has no chunk ", expected, " and ends with ", number_));
  }
  TxnRequest sweep = Fenced();
  *sweep.add_success() = DeleteOf(Key("log/"), LogKey(tail + 1));
  *sweep.add_success() = DeleteOf(LogKey(number_ + 1), EndOf(Key("log/")));
  ASSIGN_OR_RETURN(const TxnResponse swept, client_.Txn(sweep));
  return swept.succeeded() ? absl::OkStatus() : Deposed(swept);
}

void EtcdStore::Remember(RequestOp& operation) {
  if (operation.has_request_put()) {
    etcdserverpb::PutRequest& put = *operation.mutable_request_put();
    pending_bytes_ += put.key().size() + put.value().size();
    pending_[put.key()] = std::move(*put.mutable_value());
  } else {
    const std::string& key = operation.request_delete_range().key();
    pending_bytes_ += key.size();
    pending_[key] = std::nullopt;
  }
}

void EtcdStore::AddOperation(std::string_view key,
                             const std::optional<std::string>& value,
                             std::vector<RequestOp>* operations) {
  const auto it = parts_.find(key);
  const uint32_t parts_before = it == parts_.end() ? 0 : it->second;
  uint32_t parts = 0;
  if (value.has_value() && value->size() > kPartBytes) {
    for (size_t at = 0; at < value->size(); at += kPartBytes, ++parts) {
      operations->push_back(
          PutOf(PartKey(top_, key, parts), value->substr(at, kPartBytes)));
    }
    operations->push_back(PutOf(Key("data/", key), ""));
  } else if (value.has_value()) {
    operations->push_back(PutOf(Key("data/", key), *value));
  } else {
    operations->push_back(DeleteOf(Key("data/", key)));
  }
  for (uint32_t part = parts; part < parts_before; ++part) {
    operations->push_back(DeleteOf(PartKey(top_, key, part)));
  }
  if (parts > 0) {
    parts_.insert_or_assign(std::string(key), parts);
  } else if (it != parts_.end()) {
    parts_.erase(it);
  }
}

std::vector<RequestOp> EtcdStore::OperationsOf(const WriteBatch& batch) {
  // A transaction may not write a key twice: the last operation counts.
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
  known_.reset();
  failure_ = Append(OperationsOf(batch));
  if (failure_.ok()) failure_ = DrainIfDue();
  if (failure_.ok()) Compact();
  return failure_;
}

absl::Status EtcdStore::Append(std::vector<RequestOp> operations) {
  std::vector<TxnRequest> chunks =
      Chunked(std::move(operations), std::numeric_limits<int>::max());
  std::vector<TxnRequest> requests;
  int64_t next = number_;
  for (const TxnRequest& chunk : chunks) {
    std::string value = compressor_.Compress(chunk.SerializeAsString());
    bytes_ += value.size();
    requests.push_back(Fenced());
    *requests.back().add_success() = PutOf(LogKey(++next), std::move(value));
  }
  writes_ += static_cast<int64_t>(requests.size());
  // The last one commits all of them.
  TxnRequest last = std::move(requests.back());
  requests.pop_back();
  ASSIGN_OR_RETURN(const std::vector<TxnResponse> appended,
                   client_.TxnAll(requests));
  for (const TxnResponse& response : appended) {
    if (!response.succeeded()) return Deposed(response);
  }
  RETURN_IF_ERROR(Advance(next, std::move(last)));
  for (TxnRequest& chunk : chunks) {
    for (RequestOp& operation : *chunk.mutable_success()) Remember(operation);
  }
  return absl::OkStatus();
}

absl::Status EtcdStore::DrainIfDue() {
  if (drain_ != nullptr &&
      (drain_->is_done.load() || pending_bytes_ > kPendingBytesMax)) {
    RETURN_IF_ERROR(EndDrain());
  }
  if (drain_ != nullptr || (pending_.size() < kPendingOperations &&
                            pending_bytes_ < kPendingBytes)) {
    return absl::OkStatus();
  }
  drain_ = std::make_unique<Drain>();
  drain_->changes = std::exchange(pending_, {});
  drain_->number = number_;
  pending_bytes_ = 0;
  drain_->thread = std::thread([this, drain = drain_.get()] {
    drain->status = Put(*drain);
    drain->is_done = true;
  });
  return absl::OkStatus();
}

absl::Status EtcdStore::EndDrain() {
  drain_->thread.join();
  RETURN_IF_ERROR(drain_->status);
  tail_ = StrCat(drain_->number);
  drain_.reset();
  return absl::OkStatus();
}

absl::Status EtcdStore::Put(const Drain& drain) const {
  const EtcdCompressor compressor;
  std::vector<RequestOp> operations;
  operations.reserve(drain.changes.size());
  for (const auto& [key, value] : drain.changes) {
    operations.push_back(value.has_value()
                             ? PutOf(key, compressor.Compress(*value))
                             : DeleteOf(key));
  }
  std::vector<TxnRequest> requests;
  for (TxnRequest& some : Chunked(std::move(operations), kOperationsMax)) {
    requests.push_back(Fenced());
    // One that arrives late, during the next drain, does nothing.
    *requests.back().add_compare() = HasValue(Key("tail"), tail_);
    requests.back().mutable_success()->Swap(some.mutable_success());
  }
  ASSIGN_OR_RETURN(const std::vector<TxnResponse> responses,
                   client_.TxnAll(requests));
  for (const TxnResponse& response : responses) {
    if (!response.succeeded()) return Deposed(response);
  }
  const std::string tail = StrCat(drain.number);
  TxnRequest last = Fenced();
  *last.add_compare() = HasValue(Key("tail"), tail_);
  *last.add_success() = PutOf(Key("tail"), tail);
  *last.add_success() = DeleteOf(Key("log/"), LogKey(drain.number + 1));
  *last.add_failure() = GetOf(Key("tail"));
  ASSIGN_OR_RETURN(const TxnResponse response, client_.Txn(last));
  if (response.succeeded() || WasDone(response, tail)) return absl::OkStatus();
  return Deposed(response);
}

void EtcdStore::Compact() {
  if (writes_ < kWritesPerCompaction && bytes_ < kBytesPerCompaction) return;
  writes_ = 0;
  bytes_ = 0;
  const int64_t revision = std::exchange(compacted_next_, revision_);
  if (revision == 0) return;
  const absl::Status status = client_.Compact(revision);
  // If that history is gone already, something else has compacted it.
  LOG_IF(WARNING, !status.ok() && !IsCompacted(status)) << status.message();
}

absl::Status EtcdStore::ReadStored(const std::string& first,
                                   RangeRequest* request,
                                   EntryVisitor visit) const {
  const std::string end = EndOf(first);
  if (!known_.has_value()) {
    request->set_key(first);
    request->set_range_end(end);
    return ReadValues(client_, request, visit);
  }
  for (auto it = known_->values.lower_bound(first);
       it != known_->values.end() && it->first < end; ++it) {
    RETURN_IF_ERROR(visit(it->first, it->second));
  }
  return absl::OkStatus();
}

absl::Status EtcdStore::Read(const std::string& first, RangeRequest* request,
                             EntryVisitor visit) const {
  absl::btree_map<std::string_view, const std::optional<std::string>*> newer;
  const std::string end = EndOf(first);
  const auto take = [&](const Changes& changes) {
    for (auto it = changes.lower_bound(first);
         it != changes.end() && it->first < end; ++it) {
      newer[it->first] = &it->second;
    }
  };
  if (drain_ != nullptr) take(drain_->changes);
  take(pending_);
  auto next = newer.begin();
  const auto visit_newer = [&]() -> absl::Status {
    const auto [key, value] = *next++;
    return value->has_value() ? visit(std::string(key), **value)
                              : absl::OkStatus();
  };
  const auto visit_stored = [&](const std::string& key,
                                const std::string& value) -> absl::Status {
    while (next != newer.end() && next->first < key) {
      RETURN_IF_ERROR(visit_newer());
    }
    if (next != newer.end() && next->first == key) return visit_newer();
    return visit(key, value);
  };
  RETURN_IF_ERROR(ReadStored(first, request, visit_stored));
  while (next != newer.end()) RETURN_IF_ERROR(visit_newer());
  return absl::OkStatus();
}

absl::Status EtcdStore::ReadAt(int64_t* revision, const std::string& first,
                               bool keys_only, EntryVisitor visit) const {
  RangeRequest request;
  request.set_revision(*revision);
  request.set_keys_only(keys_only);
  RETURN_IF_ERROR(Read(first, &request, visit));
  *revision = request.revision();
  return absl::OkStatus();
}

absl::Status EtcdStore::Scan(std::string_view prefix, Visitor visit) const {
  bool is_visited = false;
  const auto scan = [&]() -> absl::Status {
    int64_t revision = 0;
    const auto read = [&](const std::string& first, bool keys_only,
                          EntryVisitor visit_entry) {
      return ReadAt(&revision, first, keys_only, visit_entry);
    };
    // Counts the parts again: parts_ may be wrong after a failed write.
    return ScanEntries(top_, prefix, read,
                       [&](std::string_view key, std::string_view value) {
                         is_visited = true;
                         return visit(key, value);
                       });
  };
  absl::Status status = scan();
  for (int tries = 1; tries < kScanTries && !is_visited && IsCompacted(status);
       ++tries) {
    status = scan();
  }
  if (!IsCompacted(status)) return status;
  return absl::UnavailableError(StrCat(
      status.message(), "; history was compacted during the read: try again"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenEtcdStore(
    EtcdClient& client, const Fence& fence, std::optional<EtcdRecords> known,
    std::string* head) {
  auto store = std::make_unique<EtcdStore>(client, fence, std::move(known));
  RETURN_IF_ERROR(Annotate(store->Init(head), store->description()));
  return store;
}

}  // namespace sluice
