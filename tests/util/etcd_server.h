// A real etcd, of one member or a member of several (etcd_cluster.h), as a
// process of its own, with its data in memory where there is a file system for
// that.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_ETCD_SERVER_H_
#define SLUICE_TESTS_UTIL_ETCD_SERVER_H_

#include <grpcpp/channel.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace sluice {

class EtcdServer {
 public:
  // Files in PEM.  With them it speaks TLS, and asks its clients for
  // certificates of that CA.
  struct Tls {
    std::string ca_file;
    std::string cert_file;
    std::string key_file;
  };

  // What one member of several is to know.
  struct Member {
    std::string name;
    std::string peer;  // Where it listens for the others.
    std::string all;   // All of them, as --initial-cluster has it.
  };

  // Whether there is a program named etcd; scripts/install-deps --test brings
  // it.
  static bool IsInstalled();

  // Starts it with these flags besides, and waits until it answers.
  // REQUIRES: IsInstalled().
  explicit EtcdServer(std::vector<std::string> flags = {}, Tls tls = {});
  // Starts a member, which answers once most of them run.
  EtcdServer(Member member, std::vector<std::string> flags);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  // Kills it; its data are gone.
  ~EtcdServer();

  // "127.0.0.1:40123"; the same after Start().
  const std::string& endpoint() const { return endpoint_; }
  // "etcd://127.0.0.1:40123" and `prefix`.
  std::string Address(const std::string& prefix) const;
  // Where its data are.
  const std::string& directory() const { return directory_; }

  void Kill();              // As if its power were lost.
  void Start();             // After Kill(); with the data that it had.
  void Spawn();             // The same, and does not wait for it to answer.
  void Signal(int signal);  // SIGSTOP: it is silent.  SIGCONT: it is not.

  // A connection to it.
  std::shared_ptr<grpc::Channel> Connect() const;
  // Returns false if it ended instead of answering.
  bool AwaitAnswer();
  bool is_running() const { return pid_ > 0; }

 private:
  // Whether it answers within a second.
  bool Answers() const;

  const std::vector<std::string> flags_;
  const Tls tls_;
  std::string directory_;
  std::string endpoint_;
  Member member_;
  pid_t pid_ = -1;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_ETCD_SERVER_H_
