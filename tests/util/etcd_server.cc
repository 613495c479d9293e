#include "util/etcd_server.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/strings.h"
#include "etcd/rpc.grpc.pb.h"
#include "util/free_port.h"

extern char** environ;

namespace sluice {
namespace {

std::string MakeDirectory() {
  const std::string top = access("/dev/shm", W_OK) == 0
                              ? "/dev/shm"
                              : std::filesystem::temp_directory_path().string();
  std::string path = top + "/sluice-etcd-XXXXXX";
  CHECK(mkdtemp(path.data()) != nullptr) << path;
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::shared_ptr<grpc::Channel> EtcdServer::Connect() const {
  auto credentials = grpc::InsecureChannelCredentials();
  if (!tls_.ca_file.empty()) {
    credentials =
        grpc::SslCredentials({.pem_root_certs = ReadFile(tls_.ca_file),
                              .pem_private_key = ReadFile(tls_.key_file),
                              .pem_cert_chain = ReadFile(tls_.cert_file)});
  }
  return grpc::CreateChannel(endpoint_, credentials);
}

bool EtcdServer::Answers() const {
  const auto channel = Connect();
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                    gpr_time_from_millis(1000, GPR_TIMESPAN)));
  etcdserverpb::RangeRequest request;
  request.set_key("any");
  etcdserverpb::RangeResponse response;
  return etcdserverpb::KV::NewStub(channel)
      ->Range(&context, request, &response)
      .ok();
}

bool EtcdServer::IsInstalled() {
  const char* path = getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (access((directory + "/etcd").c_str(), X_OK) == 0) return true;
  }
  return false;
}

EtcdServer::EtcdServer(std::vector<std::string> flags, Tls tls)
    : flags_(std::move(flags)),
      tls_(std::move(tls)),
      directory_(MakeDirectory()) {
  // Somebody may take the ports in between.
  for (int attempts = 1;; ++attempts) {
    endpoint_ = StrCat("127.0.0.1:", FreePort());
    member_.name = "test";
    member_.peer = StrCat("127.0.0.1:", FreePort());
    member_.all = StrCat("test=http://", member_.peer);
    Spawn();
    if (AwaitAnswer()) return;
    Kill();
    CHECK_LT(attempts, 5) << "etcd does not start; its log is "
                          << directory_ + "/log";
    std::filesystem::remove_all(directory_ + "/data");
  }
}

EtcdServer::EtcdServer(Member member, std::vector<std::string> flags)
    : flags_(std::move(flags)),
      directory_(MakeDirectory()),
      endpoint_(StrCat("127.0.0.1:", FreePort())),
      member_(std::move(member)) {
  Spawn();
}

EtcdServer::~EtcdServer() {
  Kill();
  std::filesystem::remove_all(directory_);
}

std::string EtcdServer::Address(const std::string& prefix) const {
  return StrCat("etcd://", endpoint_, prefix);
}

void EtcdServer::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void EtcdServer::Signal(int signal) {
  CHECK_GT(pid_, 0) << "it has ended";
  CHECK_EQ(kill(pid_, signal), 0);
  // Its threads stop one after the other.
  if (signal == SIGSTOP) CHECK_EQ(waitpid(pid_, nullptr, WUNTRACED), pid_);
}

void EtcdServer::Start() {
  Spawn();
  CHECK(AwaitAnswer()) << directory_ + "/log";
}

void EtcdServer::Spawn() {
  const std::string url =
      (tls_.ca_file.empty() ? "http://" : "https://") + endpoint_;
  // setpriv: it goes with the test, however that ends.
  std::vector<std::string> arguments = {
      "setpriv",
      "--pdeathsig",
      "KILL",
      "etcd",
      "--name=" + member_.name,
      "--data-dir=" + directory_ + "/data",
      "--listen-client-urls=" + url,
      "--advertise-client-urls=" + url,
      "--listen-peer-urls=http://" + member_.peer,
      "--initial-advertise-peer-urls=http://" + member_.peer,
      "--initial-cluster=" + member_.all,
      "--logger=zap",
      "--log-level=warn"};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  if (!tls_.ca_file.empty()) {
    arguments.push_back("--client-cert-auth");
    arguments.push_back("--trusted-ca-file=" + tls_.ca_file);
    arguments.push_back("--cert-file=" + tls_.cert_file);
    arguments.push_back("--key-file=" + tls_.key_file);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = directory_ + "/log";
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  CHECK_EQ(
      posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
}

bool EtcdServer::AwaitAnswer() {
  for (int attempts = 0; attempts < 30; ++attempts) {
    if (Answers()) return true;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      break;
    }
  }
  return false;
}

}  // namespace sluice
