#include "etcd/etcd_records.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/etcd_compression.h"

namespace sluice {
namespace {

// A page has as many keys as would have had about so many bytes before.
constexpr int64_t kPageBytes = 1 << 20;
constexpr int64_t kPageKeysMin = 1;
constexpr int64_t kPageKeysFirst = 64;
constexpr int64_t kPageKeysMax = 8192;

// The bytes at the end of a part's key that hold its number.
constexpr size_t kPartNumberBytes = 4;

absl::StatusOr<std::string> JoinParts(std::string_view top,
                                      std::string_view key, uint32_t count,
                                      EntryReader read) {
  std::string whole;
  uint32_t found = 0;
  for (uint32_t part = 0; part < count; ++part) {
    const std::string wanted = PartKey(top, key, part);
    const auto add = [&](const std::string& part_key,
                         const std::string& value) {
      // A longer key may have the same beginning.
      if (part_key == wanted) {
        whole += value;
        ++found;
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(read(wanted, /*keys_only=*/false, add));
  }
  if (found == count) return whole;
  return absl::DataLossError(StrCat("'", Printable(key, 64), "' has ", found,
                                    " of ", count, " parts"));
}

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

std::string PartKey(std::string_view top, std::string_view key,
                    uint32_t number) {
  // Big-endian bytes, so that keys sort by number.
  std::string bytes(kPartNumberBytes, '\0');
  for (size_t i = kPartNumberBytes; i > 0; --i, number >>= 8) {
    bytes[i - 1] = static_cast<char>(number & 0xff);
  }
  return StrCat(top, "parts/", key, bytes);
}

absl::Status ReadPages(EtcdClient& client, etcdserverpb::RangeRequest* request,
                       EntryVisitor visit) {
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

absl::Status ReadValues(EtcdClient& client, etcdserverpb::RangeRequest* request,
                        EntryVisitor visit) {
  return ReadPages(
      client, request,
      [&](const std::string& key, const std::string& stored) -> absl::Status {
        ASSIGN_OR_RETURN(const std::string value, Decompress(key, stored));
        return visit(key, value);
      });
}

absl::StatusOr<etcdserverpb::TxnRequest> ParseChunk(int64_t number,
                                                    std::string_view stored) {
  ASSIGN_OR_RETURN(const std::string bytes,
                   Decompress(StrCat("log/", ChunkNumber(number)), stored));
  etcdserverpb::TxnRequest chunk;
  if (chunk.ParseFromString(bytes)) return chunk;
  return absl::DataLossError(
      StrCat("chunk ", number, " of the log is damaged"));
}

absl::StatusOr<PartCounts> CountParts(std::string_view top, EntryReader read) {
  PartCounts parts;
  const std::string first = StrCat(top, "parts/");
  const auto count = [&](std::string_view key,
                         const std::string& /*value*/) -> absl::Status {
    key.remove_prefix(first.size());
    if (key.size() < kPartNumberBytes) {
      return absl::DataLossError("there is a part that belongs to no value");
    }
    key.remove_suffix(kPartNumberBytes);
    ++parts[std::string(key)];
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(read(first, /*keys_only=*/true, count));
  return parts;
}

absl::Status ScanEntries(std::string_view top, std::string_view prefix,
                         EntryReader read, Store::Visitor visit) {
  ASSIGN_OR_RETURN(const PartCounts parts, CountParts(top, read));
  const std::string data = StrCat(top, "data/");
  const auto visit_entry = [&](std::string_view key,
                               const std::string& value) -> absl::Status {
    key.remove_prefix(data.size());
    const auto it = parts.find(key);
    if (it == parts.end()) return visit(key, value);
    ASSIGN_OR_RETURN(const std::string whole,
                     JoinParts(top, key, it->second, read));
    return visit(key, whole);
  };
  return read(StrCat(data, prefix), /*keys_only=*/false, visit_entry);
}

absl::Status EtcdRecords::Advance() {
  const auto it = log.find(number + 1);
  if (it == log.end()) {
    return absl::DataLossError(
        StrCat("chunk ", number + 1, " of the log is missing"));
  }
  ASSIGN_OR_RETURN(etcdserverpb::TxnRequest chunk,
                   ParseChunk(number + 1, it->second));
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
  const auto read = [this](const std::string& first, bool /*keys_only*/,
                           EntryVisitor visit_entry) -> absl::Status {
    for (auto it = values.lower_bound(first);
         it != values.end() && it->first.starts_with(first); ++it) {
      RETURN_IF_ERROR(visit_entry(it->first, it->second));
    }
    return absl::OkStatus();
  };
  return ScanEntries(top, prefix, read, visit);
}

}  // namespace sluice
