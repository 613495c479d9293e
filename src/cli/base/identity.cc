#include "cli/base/identity.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 256;

absl::Status ReadFile(std::string_view flag, const std::string& path,
                      std::string* text) {
  if (path.empty()) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  text->assign(std::istreambuf_iterator<char>(file), {});
  if (file && !text->empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("--", flag, "=",
                                           Printable(path, kShownBytes),
                                           ": is empty or cannot be read"));
}

}  // namespace

absl::Status Identity::Read() {
  if (cert_file.empty() != key_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls_cert and --tls_key need each other");
  }
  RETURN_IF_ERROR(ReadFile("tls_ca", ca_file, &ca));
  RETURN_IF_ERROR(ReadFile("tls_cert", cert_file, &cert));
  RETURN_IF_ERROR(ReadFile("tls_key", key_file, &key));
  RETURN_IF_ERROR(ReadFile("token_file", token_file, &token));
  // Editors end a file with a newline.
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  const bool is_one_word =
      std::all_of(token.begin(), token.end(),
                  [](char letter) { return letter > ' ' && letter <= '~'; });
  if (!token_file.empty() && (token.empty() || !is_one_word)) {
    return absl::InvalidArgumentError(
        StrCat("--token_file=", Printable(token_file, kShownBytes),
               ": is not one word of printable ASCII"));
  }
  return absl::OkStatus();
}

}  // namespace sluice
