#include "server/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

absl::Status CannotListen(const Address& address, std::string_view why) {
  return absl::UnavailableError(
      StrCat("cannot listen on ", ToString(address), ": ", why));
}

std::string ErrorText(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<AddressList> Resolve(const Address& address) {
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(),
                                StrCat(address.port).c_str(), &hints, &found);
  if (error != 0) return CannotListen(address, gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

absl::StatusOr<int> ListenOn(const Address& address, const addrinfo& info) {
  const int socket_fd =
      socket(info.ai_family, info.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
             info.ai_protocol);
  if (socket_fd < 0) return CannotListen(address, ErrorText(errno));
  const int yes = 1;
  setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(socket_fd, info.ai_addr, info.ai_addrlen) != 0 ||
      listen(socket_fd, SOMAXCONN) != 0) {
    const int error = errno;
    close(socket_fd);
    return CannotListen(address, ErrorText(error));
  }
  return socket_fd;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const auto error = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        StrCat("'", Printable(text, 256), "': ", why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return error("is not HOST:PORT");
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return error("write an IPv6 address as [ADDRESS]:PORT");
  }
  if (host.empty()) return error("the host is missing");
  Address address;
  address.host = std::string(host);
  const std::string_view port = text.substr(colon + 1);
  const char* const end = port.data() + port.size();
  const auto [rest, code] = std::from_chars(port.data(), end, address.port);
  if (code != std::errc() || rest != end) {
    return error("the port is not a number from 0 to 65535");
  }
  return address;
}

std::string ToString(const Address& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return StrCat(is_ipv6 ? "[" : "", address.host, is_ipv6 ? "]" : "", ":",
                address.port);
}

bool IsLoopback(const Address& address) {
  if (address.host == "localhost") return true;
  in_addr v4 = {};
  if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  in6_addr v6 = {};
  return inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::StatusOr<int> Listen(const Address& address) {
  ASSIGN_OR_RETURN(const AddressList list, Resolve(address));
  const addrinfo* chosen = list.get();
  for (const addrinfo* info = chosen; info != nullptr; info = info->ai_next) {
    if (info->ai_family != AF_INET) continue;
    chosen = info;
    break;
  }
  return ListenOn(address, *chosen);
}

absl::Status ProbeListen(const Address& address) {
  ASSIGN_OR_RETURN(const AddressList list, Resolve(address));
  for (const addrinfo* info = list.get(); info; info = info->ai_next) {
    ASSIGN_OR_RETURN(const int socket_fd, ListenOn(address, *info));
    close(socket_fd);
  }
  return absl::OkStatus();
}

}  // namespace sluice
