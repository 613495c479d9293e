// A server on this machine that stands for another one, and for the network
// before it: it forwards bytes, or keeps them as a network does that is cut.
//
// What it keeps is not lost: it arrives when the proxy forwards again, as what
// TCP sends once more, even if its sender has ended meanwhile.
//
// Threads: one of its own; SetMode() by any.

#ifndef SLUICE_TESTS_UTIL_TCP_PROXY_H_
#define SLUICE_TESTS_UTIL_TCP_PROXY_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace sluice {

class TcpProxy {
 public:
  enum class Mode {
    kForwards,
    kIsSilent,      // In both directions, and for new connections.
    kLosesAnswers,  // What the server sends does not arrive.
  };

  // Stands for the server on that port, whether or not that runs.
  explicit TcpProxy(int server_port);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  int port() const { return port_; }

  // Returns once nothing is moved by the mode of before any more.
  void SetMode(Mode mode);

 private:
  // One direction of a connection.
  struct Way {
    int from;
    int to;
    std::string kept = {};
    bool has_ended = false;  // `from` sends no more.
  };
  struct Connection {
    Way request;
    Way answer;
  };

  void Run();
  // Of the thread: the mode to go by from now on.
  Mode Follow();
  void Accept();
  // Reads and writes what can be without waiting.  Returns false on an error.
  static bool Move(Way* way);
  static void Close(const Connection& connection);

  const int server_port_;
  int port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  std::atomic<bool> is_ending_ = false;
  Mutex mutex_;
  CondVar is_followed_;
  Mode mode_ ABSL_GUARDED_BY(mutex_) = Mode::kForwards;
  int64_t times_set_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t times_followed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::list<Connection> connections_;  // Of the thread.
  std::thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_TCP_PROXY_H_
