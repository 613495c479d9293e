// One GET over HTTP from a server on this machine.

#ifndef SLUICE_TESTS_UTIL_HTTP_GET_H_
#define SLUICE_TESTS_UTIL_HTTP_GET_H_

#include <civetweb.h>

#include <string>

namespace sluice {

struct HttpResponse {
  int status = 0;  // 0: no connection; `body` says why.
  std::string body;
};

inline HttpResponse HttpGet(int port, const std::string& path) {
  char error[256] = "";
  mg_connection* connection =
      mg_download("127.0.0.1", port, 0, error, sizeof(error),
                  "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path.c_str());
  if (connection == nullptr) return {0, error};
  HttpResponse response;
  response.status = mg_get_response_info(connection)->status_code;
  char buffer[4096];
  for (int n = 0; (n = mg_read(connection, buffer, sizeof(buffer))) > 0;) {
    response.body.append(buffer, static_cast<size_t>(n));
  }
  mg_close_connection(connection);
  return response;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_HTTP_GET_H_
