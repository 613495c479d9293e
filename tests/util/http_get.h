// One GET over HTTP from a server on this machine.

#ifndef SLUICE_TESTS_UTIL_HTTP_GET_H_
#define SLUICE_TESTS_UTIL_HTTP_GET_H_

#include <cstdlib>
#include <string>

#include "util/tcp_connection.h"

namespace sluice {

struct HttpResponse {
  int status = 0;  // 0: closed without an answer.
  std::string body;
};

// Waits for the end of what `connection` asked for.
inline HttpResponse ReadResponse(TcpConnection& connection) {
  const std::string text = connection.ReadToEnd();
  const size_t status = text.find(' ');
  const size_t body = text.find("\r\n\r\n");
  if (status == std::string::npos || body == std::string::npos) return {};
  return {std::atoi(text.c_str() + status), text.substr(body + 4)};
}

inline HttpResponse HttpGet(int port, const std::string& path) {
  TcpConnection connection(port);
  connection.Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return ReadResponse(connection);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_HTTP_GET_H_
