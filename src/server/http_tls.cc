#include "server/http_tls.h"

#include <glog/logging.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include <array>
#include <string>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

// Silent connections end after seconds, and certificates live for days.
constexpr size_t kLoadedMax = 8;
constexpr unsigned int kChainMax = 16;

// The object that serves this thread.
thread_local HttpTls* current = nullptr;

// GnuTLS takes unsigned bytes, and not as const.
struct Datum {
  explicit Datum(const std::string& text) : bytes(text.begin(), text.end()) {}

  gnutls_datum_t get() {
    return {.data = bytes.data(), .size = static_cast<unsigned>(bytes.size())};
  }

  std::vector<unsigned char> bytes;
};

}  // namespace

struct HttpTls::Loaded {
  Loaded() = default;
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    for (unsigned int i = 0; i < size; ++i) gnutls_pcert_deinit(&chain[i]);
    if (key != nullptr) gnutls_privkey_deinit(key);
  }

  // Returns GnuTLS's code.
  int Load(const Certificates& certificates) {
    Datum chain_bytes(certificates.chain);
    const gnutls_datum_t chain_pem = chain_bytes.get();
    unsigned int count = kChainMax;
    int result = gnutls_pcert_list_import_x509_raw(
        chain.data(), &count, &chain_pem, GNUTLS_X509_FMT_PEM, 0);
    if (result < 0) return result;
    size = count;
    result = gnutls_privkey_init(&key);
    if (result < 0) return result;
    Datum key_bytes(certificates.key);
    const gnutls_datum_t key_pem = key_bytes.get();
    return gnutls_privkey_import_x509_raw(key, &key_pem, GNUTLS_X509_FMT_PEM,
                                          nullptr, 0);
  }

  mutable std::array<gnutls_pcert_st, kChainMax> chain = {};
  unsigned int size = 0;
  gnutls_privkey_t key = nullptr;
};

HttpTls::HttpTls(const Secrets& secrets) : secrets_(secrets) {}

HttpTls::~HttpTls() = default;

void HttpTls::ServeThisThread() { current = this; }

absl::Status HttpTls::Check() {
  Loaded loaded;
  const int result = loaded.Load(secrets_.certificates().first);
  if (result >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("--tls_cert=", secrets_.files().tls_cert,
             ": cannot serve HTTP: ", gnutls_strerror(result)));
}

const HttpTls::Loaded* HttpTls::Load() {
  if (secrets_.generation() != generation_) {
    const auto [certificates, generation] = secrets_.certificates();
    generation_ = generation;
    auto next = std::make_unique<Loaded>();
    const int result = next->Load(certificates);
    if (result >= 0) {
      loaded_.push_back(std::move(next));
      if (loaded_.size() > kLoadedMax) loaded_.pop_front();
    } else {
      LOG(ERROR) << "HTTP keeps its old certificate: "
                 << gnutls_strerror(result);
    }
  }
  return loaded_.empty() ? nullptr : loaded_.back().get();
}

// NOLINTNEXTLINE(readability-function-size): GnuTLS fixes the parameters.
int HttpTls::Retrieve(gnutls_session_t /*session*/,
                      const gnutls_datum_t* /*names*/, int /*name_count*/,
                      const gnutls_pk_algorithm_t* /*algorithms*/,
                      int /*algorithm_count*/, gnutls_pcert_st** chain,
                      unsigned int* chain_size, gnutls_privkey_t* key) {
  const Loaded* const loaded = current == nullptr ? nullptr : current->Load();
  if (loaded == nullptr) return -1;
  *chain = loaded->chain.data();
  *chain_size = loaded->size;
  *key = loaded->key;
  return 0;
}

}  // namespace sluice
