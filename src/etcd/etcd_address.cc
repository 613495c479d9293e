#include "etcd/etcd_address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr std::string_view kScheme = "etcd://";
constexpr size_t kPrefixBytesMax = 256;

absl::Status Invalid(std::string_view what, std::string_view why) {
  return absl::InvalidArgumentError(
      StrCat("'", Printable(what, 256), "' ", why));
}

absl::Status CheckEndpoint(std::string_view endpoint) {
  const size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Invalid(endpoint, "is not HOST:PORT");
  }
  const std::string_view host = endpoint.substr(0, colon);
  const bool is_bracketed = host.front() == '[' && host.back() == ']';
  if (!is_bracketed && host.find_first_of("[]:") != std::string_view::npos) {
    return Invalid(endpoint, "is not HOST:PORT; put brackets around IPv6");
  }
  if (std::any_of(endpoint.begin(), endpoint.end(),
                  [](char c) { return c <= ' ' || c > '~'; })) {
    return Invalid(endpoint, "is not HOST:PORT");
  }
  const std::string_view port = endpoint.substr(colon + 1);
  uint16_t number = 0;
  const auto result =
      std::from_chars(port.data(), port.data() + port.size(), number);
  if (result.ec != std::errc() || result.ptr != port.data() + port.size() ||
      number == 0) {
    return Invalid(endpoint, "needs a port from 1 to 65535");
  }
  return absl::OkStatus();
}

absl::Status CheckPrefix(std::string_view prefix) {
  if (prefix.size() <= 1) {
    return absl::InvalidArgumentError(
        "the endpoints are not followed by a prefix; write "
        "etcd://HOST:PORT/PREFIX");
  }
  if (prefix.size() > kPrefixBytesMax) {
    return Invalid(prefix, StrCat("has more than ", kPrefixBytesMax, " bytes"));
  }
  if (prefix.back() == '/' || prefix.find("//") != std::string_view::npos) {
    return Invalid(prefix, "has an empty part");
  }
  if (std::any_of(prefix.begin(), prefix.end(),
                  [](char c) { return c <= ' ' || c > '~'; })) {
    return Invalid(prefix, "has bytes that are not printable ASCII");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EtcdAddress> ParseEtcdAddress(std::string_view text) {
  // An '@' anywhere is refused: a password may hold any other character.
  if (text.find('@') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "it has an '@'; it is not shown here, since what precedes the '@' may "
        "be a secret; a daemon shows etcd a certificate, not a password");
  }
  if (!text.starts_with(kScheme)) {
    return Invalid(text, "does not begin with etcd://");
  }
  text.remove_prefix(kScheme.size());
  const size_t slash = std::min(text.find('/'), text.size());
  EtcdAddress address;
  address.prefix = text.substr(slash);
  std::string_view endpoints = text.substr(0, slash);
  while (true) {
    const size_t comma = std::min(endpoints.find(','), endpoints.size());
    RETURN_IF_ERROR(CheckEndpoint(endpoints.substr(0, comma)));
    address.endpoints.emplace_back(endpoints.substr(0, comma));
    if (comma == endpoints.size()) break;
    endpoints.remove_prefix(comma + 1);
  }
  RETURN_IF_ERROR(CheckPrefix(address.prefix));
  return address;
}

std::string ToString(const EtcdAddress& address) {
  std::string text(kScheme);
  for (const std::string& endpoint : address.endpoints) {
    if (text.size() > kScheme.size()) text += ',';
    text += endpoint;
  }
  return text + address.prefix;
}

}  // namespace sluice
