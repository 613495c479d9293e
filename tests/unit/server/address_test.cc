#include "server/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strings.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(Address, IsAHostAndAPort) {
  for (const auto& [text, host, port] :
       {std::tuple("localhost:9090", "localhost", 9090),
        std::tuple("127.0.0.1:0", "127.0.0.1", 0),
        std::tuple("[::1]:65535", "::1", 65535)}) {
    const auto address = ParseAddress(text);
    ASSERT_THAT(address, IsOk()) << text;
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
    EXPECT_EQ(ToString(*address), text);
  }
}

TEST(Address, IsOfThisMachineAloneIfItIsLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(IsLoopback({host, 1})) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "fe80::1",
                           "example.com", "127.example.com"}) {
    EXPECT_FALSE(IsLoopback({host, 1})) << host;
  }
}

TEST(Address, NamesWhatIsWrongWithItsText) {
  for (const auto& [text, why] :
       {std::pair("localhost", "is not HOST:PORT"),
        std::pair(":9090", "the host is missing"),
        std::pair("[]:9090", "the host is missing"),
        std::pair("::1:9090", "write an IPv6 address as [ADDRESS]:PORT"),
        std::pair("h:", "the port is not a number from 0 to 65535"),
        std::pair("h:65536", "the port is not a number from 0 to 65535"),
        std::pair("h:-1", "the port is not a number from 0 to 65535"),
        std::pair("h:80x", "the port is not a number from 0 to 65535")}) {
    EXPECT_THAT(ParseAddress(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << text;
  }
}

TEST(Listen, TakesTheIpv4AddressOfANameThatHasSeveral) {
  const auto socket_fd = Listen({"localhost", 0});
  ASSERT_THAT(socket_fd, IsOk());
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  ASSERT_EQ(
      getsockname(*socket_fd, static_cast<sockaddr*>(static_cast<void*>(&name)),
                  &size),
      0);
  EXPECT_EQ(name.ss_family, AF_INET);
  close(*socket_fd);
}

TEST(Listen, SaysThatTheAddressIsNotOurs) {
  EXPECT_THAT(Listen({"192.0.2.1", 0}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot listen on 192.0.2.1:0: ")));
}

TEST(ProbeListen, SaysThatAnotherListens) {
  const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage storage = {};
  sockaddr* const name = static_cast<sockaddr*>(static_cast<void*>(&storage));
  name->sa_family = AF_INET;
  socklen_t size = sizeof(sockaddr_in);
  ASSERT_EQ(bind(socket_fd, name, size), 0);
  ASSERT_EQ(listen(socket_fd, 1), 0);
  ASSERT_EQ(getsockname(socket_fd, name, &size), 0);
  const auto* bound =
      static_cast<const sockaddr_in*>(static_cast<const void*>(&storage));
  const Address address = {"0.0.0.0", ntohs(bound->sin_port)};
  EXPECT_THAT(ProbeListen(address),
              StatusIs(absl::StatusCode::kUnavailable,
                       StrCat("cannot listen on 0.0.0.0:", address.port,
                              ": address already in use")));
  close(socket_fd);
  EXPECT_THAT(ProbeListen(address), IsOk());
}

TEST(ProbeListen, SaysThatTheAddressIsNotOurs) {
  EXPECT_THAT(ProbeListen({"192.0.2.1", 0}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot listen on 192.0.2.1:0: ")));
}

}  // namespace
}  // namespace sluice
