#include "integration/stalled_client.h"

#include <glog/logging.h>

#include <cstdint>
#include <utility>

#include "base/strings.h"

namespace sluice {
namespace {

// A frame of HTTP/2 (RFC 9113, section 4.1).
std::string Frame(uint8_t type, uint8_t flags, uint8_t stream,
                  const std::string& payload) {
  CHECK_LT(payload.size(), 256u);
  const char header[] = {0,
                         0,
                         static_cast<char>(payload.size()),
                         static_cast<char>(type),
                         static_cast<char>(flags),
                         0,
                         0,
                         0,
                         static_cast<char>(stream)};
  return std::string(header, sizeof(header)) + payload;
}

// Headers as literals without indexing (RFC 7541, section 6.2.2).
std::string Headers(
    const std::initializer_list<std::pair<std::string, std::string>>& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block.push_back(0);
    block.push_back(static_cast<char>(name.size()));
    block += name;
    block.push_back(static_cast<char>(value.size()));
    block += value;
  }
  return block;
}

constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr uint8_t kResetStream = 3;
constexpr char kNoInitialWindow[] = {0, 4, 0, 0, 0, 0};
constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Begins a call on stream 1.
std::string Call(const std::string& method) {
  return Frame(kHeaders, kEndHeaders, 1,
               Headers({{":method", "POST"},
                        {":scheme", "http"},
                        {":path", "/firmament.FirmamentScheduler/" + method},
                        {":authority", "localhost"},
                        {"content-type", "application/grpc"},
                        {"te", "trailers"}}));
}

}  // namespace

StalledClient::StalledClient(int port) : connection_(port) {
  connection_.Send(kPreface);
  connection_.Send(
      Frame(kSettings, 0, 0,
            std::string(kNoInitialWindow, sizeof(kNoInitialWindow))));
  connection_.Send(Call("Schedule"));
  // An empty message: not compressed, of length 0.
  connection_.Send(Frame(kData, kEndStream, 1, std::string(5, '\0')));
}

void BreakOffCall(int port, const std::string& method) {
  TcpConnection connection(port);
  connection.Send(kPreface + Frame(kSettings, 0, 0, "") + Call(method));
  // Two bytes of a message of four.
  connection.Send(Frame(kData, 0, 1, std::string("\0\0\0\0\4ab", 7)));
  constexpr char kCancel[] = {0, 0, 0, 8};
  connection.Send(
      Frame(kResetStream, 0, 1, std::string(kCancel, sizeof(kCancel))));
  // No settings have a byte: it closes the connection when it comes to this.
  connection.Send(Frame(kSettings, 0, 0, "x"));
  connection.ReadToEnd();
}

}  // namespace sluice
