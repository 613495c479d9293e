#include "etcd/etcd_records.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// A page has as many keys as would have had about so many bytes before.
constexpr int64_t kPageBytes = 1 << 20;
constexpr int64_t kPageKeysMin = 1;
constexpr int64_t kPageKeysFirst = 64;
constexpr int64_t kPageKeysMax = 8192;

}  // namespace

std::string EndOf(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

std::string ChunkNumber(int64_t number) {
  const std::string digits = StrCat(number);
  return std::string(19 - std::min<size_t>(digits.size(), 19), '0') + digits;
}

int64_t NumberAfter(char mark, std::string_view text) {
  text.remove_prefix(std::min(text.rfind(mark) + 1, text.size()));
  int64_t number = -1;
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ptr == text.data() + text.size() && number >= 0 ? number : -1;
}

absl::Status ReadPages(EtcdClient& client, etcdserverpb::RangeRequest* request,
                       absl::FunctionRef<absl::Status(const std::string& key,
                                                      const std::string& value)>
                           visit) {
  for (int64_t limit = kPageKeysFirst;;) {
    request->set_limit(limit);
    ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse page,
                     client.Range(*request));
    if (request->revision() == 0) {
      request->set_revision(page.header().revision());
    }
    int64_t bytes = 1;
    for (const mvccpb::KeyValue& entry : page.kvs()) {
      bytes += static_cast<int64_t>(entry.key().size() + entry.value().size());
      RETURN_IF_ERROR(visit(entry.key(), entry.value()));
    }
    if (!page.more() || page.kvs_size() == 0) return absl::OkStatus();
    request->set_key(page.kvs(page.kvs_size() - 1).key() + '\0');
    limit = std::clamp(page.kvs_size() * kPageBytes / bytes, kPageKeysMin,
                       std::min(limit * 8, kPageKeysMax));
  }
}

absl::Status EtcdRecords::Advance() {
  const auto it = log.find(number + 1);
  etcdserverpb::TxnRequest chunk;
  if (it == log.end() || !chunk.ParseFromString(it->second)) {
    return absl::DataLossError(
        StrCat("chunk ", number + 1, " of the log is damaged or missing"));
  }
  for (etcdserverpb::RequestOp& operation : *chunk.mutable_success()) {
    if (operation.has_request_put()) {
      etcdserverpb::PutRequest& put = *operation.mutable_request_put();
      values[std::move(*put.mutable_key())] = std::move(*put.mutable_value());
    } else {
      values.erase(operation.request_delete_range().key());
    }
  }
  ++number;
  return absl::OkStatus();
}

absl::Status EtcdRecords::Scan(std::string_view top, std::string_view prefix,
                               Store::Visitor visit) const {
  const std::string data = StrCat(top, "data/");
  const std::string first = StrCat(data, prefix);
  std::string whole;
  for (auto it = values.lower_bound(first);
       it != values.end() && it->first.starts_with(first); ++it) {
    const std::string_view key =
        std::string_view(it->first).substr(data.size());
    if (!it->second.empty()) {
      RETURN_IF_ERROR(visit(key, it->second));
      continue;
    }
    // A value that is empty is so, or has parts, which follow each other.
    whole.clear();
    const std::string parts = StrCat(top, "parts/", key);
    for (auto part = values.lower_bound(parts);
         part != values.end() && part->first.starts_with(parts); ++part) {
      // Longer keys may begin alike.
      if (part->first.size() == parts.size() + kPartNumberBytes) {
        whole += part->second;
      }
    }
    RETURN_IF_ERROR(visit(key, whole));
  }
  return absl::OkStatus();
}

}  // namespace sluice
