#include "access/access_list.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 128;

// Shorter ones can be guessed.
constexpr size_t kTokenBytesMin = 16;

constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::string_view kBlanks = " \t\r";

std::string Sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(),
             nullptr);
  return std::string(digest.begin(), digest.end());
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

absl::Status Invalid(std::string_view why) {
  return absl::InvalidArgumentError(std::string(why));
}

// Whether `value` begins with the prefix, also in capitals: no token does.
bool StartsWithDigestPrefix(std::string_view value) {
  return value.starts_with(kDigestPrefix) || value.starts_with("SHA256:");
}

// The value of "Bearer VALUE"; nothing for any other text.
std::optional<std::string_view> BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    const char letter = authorization[i];
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    if ((is_capital ? letter - 'A' + 'a' : letter) != kScheme[i]) {
      return std::nullopt;
    }
  }
  return authorization.substr(kScheme.size());
}

}  // namespace

absl::StatusOr<AccessList> AccessList::Parse(std::string_view text) {
  AccessList list;
  bool is_empty = true;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    RETURN_IF_ERROR(Annotate(list.Add(line), StrCat("line ", number)));
    is_empty = false;
  }
  if (is_empty) return Invalid("gives nobody a role");
  return list;
}

absl::Status AccessList::Add(std::string_view line) {
  const bool is_printable =
      std::all_of(line.begin(), line.end(), [](char letter) {
        return (letter >= ' ' && letter <= '~') ||
               kBlanks.find(letter) != std::string_view::npos;
      });
  if (!is_printable)
    return Invalid("has characters other than printable ASCII");
  const std::vector<std::string_view> words = Words(line);
  const std::optional<Role> role = ParseRole(words[0]);
  if (!role.has_value()) {
    return Invalid("does not begin with read, write or admin");
  }
  const std::string_view kind = words.size() > 1 ? words[1] : "";
  if (kind == "anyone" && words.size() == 2) {
    if (anyone_ != Role::kNone) return Invalid("anyone has a role already");
    anyone_ = *role;
    return absl::OkStatus();
  }
  if (kind == "certificate" && words.size() == 3) {
    Grant grant = {
        .role = *role,
        .name = StrCat("certificate ", Printable(words[2], kShownBytes))};
    const std::string name = grant.name;
    if (!certificates_.try_emplace(std::string(words[2]), std::move(grant))
             .second) {
      return Invalid(StrCat(name, " has a role already"));
    }
    return absl::OkStatus();
  }
  if (kind == "token" && words.size() == 4) {
    return AddToken(*role, words[2], words[3]);
  }
  // The line is not shown: it may hold a token.
  return Invalid(
      "is not 'ROLE certificate NAME', 'ROLE token NAME VALUE' or 'ROLE "
      "anyone'");
}

absl::Status AccessList::AddToken(Role role, std::string_view name,
                                  std::string_view value) {
  // Errors show neither, since a line may have the two in the wrong order.
  std::string digest;
  if (StartsWithDigestPrefix(value)) {
    const std::string_view hex = value.substr(kDigestPrefix.size());
    const bool is_hex = std::all_of(hex.begin(), hex.end(), [](char letter) {
      return (letter >= '0' && letter <= '9') ||
             (letter >= 'a' && letter <= 'f') ||
             (letter >= 'A' && letter <= 'F');
    });
    if (!is_hex || hex.size() != size_t{2} * SHA256_DIGEST_LENGTH) {
      return Invalid("sha256: is not followed by 64 hexadecimal digits");
    }
    digest = absl::HexStringToBytes(std::string(hex));
  } else if (value.size() < kTokenBytesMin) {
    return Invalid(
        StrCat("the token has fewer than ", kTokenBytesMin, " characters"));
  } else {
    digest = Sha256(value);
  }
  std::string shown = StrCat("token ", Printable(name, kShownBytes));
  if (!token_names_.insert(std::string(name)).second) {
    return Invalid("an earlier token has that name");
  }
  const auto [grant, is_new] =
      tokens_.try_emplace(std::move(digest), Grant{role, shown});
  if (!is_new) return Invalid("an earlier token has that value");
  return absl::OkStatus();
}

absl::Status AccessList::Check(const Caller& caller, Role needed) const {
  Grant best = {.role = anyone_, .name = "anyone"};
  if (!caller.authorization.empty()) {
    const auto token = BearerToken(caller.authorization);
    if (!token.has_value()) {
      return absl::UnauthenticatedError(
          "the authorization header is not 'Bearer TOKEN'");
    }
    const auto grant = tokens_.find(Sha256(*token));
    if (grant == tokens_.end()) {
      return absl::UnauthenticatedError("the token is unknown");
    }
    if (grant->second.role >= best.role) best = grant->second;
  }
  for (const std::string& name : caller.names) {
    const auto grant = certificates_.find(name);
    if (grant != certificates_.end() && grant->second.role >= best.role) {
      best = grant->second;
    }
  }
  if (best.role >= needed) return absl::OkStatus();
  if (caller.authorization.empty() && caller.names.empty()) {
    return absl::UnauthenticatedError(
        StrCat("the role ", ToString(needed),
               " is needed, but there is neither a certificate nor a token"));
  }
  if (best.role == Role::kNone) {
    return absl::PermissionDeniedError(
        StrCat("certificate ", Printable(caller.names.front(), kShownBytes),
               " has no role, but the role ", ToString(needed), " is needed"));
  }
  return absl::PermissionDeniedError(
      StrCat(best.name, " has the role ", ToString(best.role),
             ", but the role ", ToString(needed), " is needed"));
}

}  // namespace sluice
