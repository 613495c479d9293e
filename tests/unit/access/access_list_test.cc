#include "access/access_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr absl::StatusCode kDenied = absl::StatusCode::kPermissionDenied;
constexpr absl::StatusCode kUnknown = absl::StatusCode::kUnauthenticated;

constexpr char kList[] =
    "# who may do what\n"
    "\n"
    "  write certificate bridge.sluice.svc\r\n"
    "read\tcertificate spiffe://cluster/viewer\n"
    "read token prometheus prometheus-token\n"
    "admin token oncall "
    "sha256:62cb7f6b6b01e4ec3a15d5e1a36b2ddbf2ff3d5aa9bfd04d7a9f2d4c6e5a0c17\n"
    "admin token root a-token-of-root-";

AccessList Parse(const std::string& text) {
  auto list = AccessList::Parse(text);
  EXPECT_THAT(list, IsOk());
  return *std::move(list);
}

absl::Status Check(const AccessList& list,
                   const std::vector<std::string>& names,
                   const std::string& authorization, Role needed) {
  return list.Check({.names = names, .authorization = authorization}, needed);
}

TEST(AccessList, GivesEachCertificateItsRoleAndThoseBefore) {
  const AccessList list = Parse(kList);
  for (const auto& [name, highest] :
       {std::pair("bridge.sluice.svc", Role::kWrite),
        std::pair("spiffe://cluster/viewer", Role::kRead),
        std::pair("stranger", Role::kNone)}) {
    for (const Role role : {Role::kRead, Role::kWrite, Role::kAdmin}) {
      EXPECT_EQ(Check(list, {name}, "", role).code(),
                role <= highest ? absl::StatusCode::kOk : kDenied)
          << name << " " << ToString(role);
    }
  }
}

TEST(AccessList, GivesACallerTheHighestOfItsRoles) {
  const AccessList list = Parse(kList);
  const std::vector<std::string> names = {"spiffe://cluster/viewer", "other",
                                          "bridge.sluice.svc"};
  EXPECT_THAT(Check(list, names, "", Role::kWrite), IsOk());
  EXPECT_THAT(Check(list, names, "Bearer a-token-of-root-", Role::kAdmin),
              IsOk());
  EXPECT_THAT(Check(list, names, "Bearer prometheus-token", Role::kWrite),
              IsOk());
}

TEST(AccessList, KnowsTokensByTheirValueOrItsDigest) {
  // sha256sum of "0123456789abcdef".
  const AccessList list = Parse(
      "admin token hashed sha256:"
      "9F9F5111F7B27A781F1F1DDDE5EBC2DD2B796BFC7365C9C28B548E564176929F");
  EXPECT_THAT(Check(list, {}, "Bearer 0123456789abcdef", Role::kAdmin), IsOk());
  EXPECT_THAT(Check(list, {}, "bearer 0123456789abcdef", Role::kAdmin), IsOk());
  for (const char* wrong :
       {"Bearer 0123456789abcdeF", "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef ", "Bearer ", "Basic 0123456789abcdef",
        "0123456789abcdef",
        "Bearer sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e"
        "564176929f"}) {
    EXPECT_EQ(Check(list, {}, wrong, Role::kRead).code(), kUnknown) << wrong;
  }
}

TEST(AccessList, RefusesAWrongTokenWhateverElseACallerHas) {
  const AccessList list = Parse(std::string(kList) + "\nread anyone");
  EXPECT_EQ(Check(list, {"bridge.sluice.svc"}, "Bearer no-such-token----",
                  Role::kRead)
                .code(),
            kUnknown);
}

TEST(AccessList, GivesAnyoneARoleIfItSaysSo) {
  const AccessList list = Parse("read anyone");
  EXPECT_THAT(Check(list, {}, "", Role::kRead), IsOk());
  EXPECT_EQ(Check(list, {}, "", Role::kWrite).code(), kUnknown);
  EXPECT_THAT(Check(list, {"stranger"}, "", Role::kRead), IsOk());
  EXPECT_THAT(Check(list, {"stranger"}, "", Role::kWrite),
              StatusIs(kDenied, HasSubstr("anyone has the role read, but the "
                                          "role write is needed")));
}

TEST(AccessList, SaysWhatIsMissingAndShowsNoToken) {
  const AccessList list = Parse(kList);
  EXPECT_THAT(Check(list, {}, "", Role::kRead),
              StatusIs(kUnknown,
                       "the role read is needed, but there is neither "
                       "a certificate nor a token"));
  EXPECT_THAT(Check(list, {"a\nb"}, "", Role::kRead),
              StatusIs(kDenied,
                       "certificate a\\nb has no role, but the role "
                       "read is needed"));
  EXPECT_THAT(Check(list, {}, "Bearer prometheus-token", Role::kAdmin),
              StatusIs(kDenied,
                       "token prometheus has the role read, but the "
                       "role admin is needed"));
  EXPECT_THAT(
      Check(list, {}, "Bearer some-other-token", Role::kAdmin).ToString(),
      Not(HasSubstr("some-other-token")));
}

TEST(AccessList, NamesTheLineThatIsWrongWithoutTheToken) {
  for (const auto& [line, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"root certificate a", "does not begin with read, write or admin"},
           {"read", "is not 'ROLE certificate NAME'"},
           {"read certificate", "is not"},
           {"read certificate a b", "is not"},
           {"read anyone else", "is not"},
           {"read token secret-secret-secret", "is not"},
           {"read token t secret-secret-secret more", "is not"},
           {"read token t secret-secret", "the token has fewer than 16"},
           {"read token secret-secret-secret t", "the token has fewer than"},
           {"read token t sha256:secret",
            "not followed by 64 hexadecimal digits"},
           {"read token t SHA256:secret-secret",
            "not followed by 64 hexadecimal digits"},
           {"read token old another-secret--",
            "an earlier token has that name"},
           {"read certificate caf\xc3\xa9", "other than printable ASCII"},
           {std::string("read anyone\0", 12), "other than printable ASCII"},
           {"write certificate known", "certificate known has a role already"},
           {"write token new the-known-secret",
            "an earlier token has that value"},
           {"write anyone", "anyone has a role already"}}) {
    const auto list = AccessList::Parse(
        "read certificate known\nread token old the-known-secret\nread "
        "anyone\n" +
        line + "\n");
    EXPECT_THAT(list, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("line 4: ")));
    EXPECT_THAT(list,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
    EXPECT_THAT(list.status().ToString(), Not(HasSubstr("secret"))) << line;
  }
}

TEST(AccessList, GivesSomebodyARole) {
  for (const char* text : {"", "\n\n", "# read anyone\n"}) {
    EXPECT_THAT(
        AccessList::Parse(text),
        StatusIs(absl::StatusCode::kInvalidArgument, "gives nobody a role"));
  }
}

}  // namespace
}  // namespace sluice
