#include "cli/base/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

class IdentityTest : public testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }

  const TemporaryDirectory directory_;
  Identity identity_;
};

TEST_F(IdentityTest, IsPlainTextWhereNothingIsSaid) {
  EXPECT_THAT(identity_.Read(), IsOk());
  EXPECT_FALSE(identity_.uses_tls());
}

TEST_F(IdentityTest, IsWhatTheFilesHold) {
  identity_.ca_file = File("ca", "a\n");
  identity_.cert_file = File("cert", "c\n");
  identity_.key_file = File("key", "k\n");
  identity_.token_file = File("token", "a-token \r\n\n");
  EXPECT_THAT(identity_.Read(), IsOk());
  EXPECT_EQ(identity_.ca, "a\n");
  EXPECT_EQ(identity_.cert, "c\n");
  EXPECT_EQ(identity_.key, "k\n");
  EXPECT_EQ(identity_.token, "a-token");
}

TEST_F(IdentityTest, MeansTlsByEachOfItsParts) {
  for (std::string Identity::*part :
       {&Identity::ca_file, &Identity::cert_file, &Identity::token_file,
        &Identity::server_name}) {
    Identity identity;
    identity.*part = "x";
    EXPECT_TRUE(identity.uses_tls());
  }
}

TEST_F(IdentityTest, NamesWhatIsWrong) {
  identity_.cert_file = File("cert", "c");
  EXPECT_THAT(identity_.Read(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--tls_cert and --tls_key need each other"));
  identity_.cert_file.clear();
  for (const std::string& token :
       {std::string("two words"), std::string("\n"), std::string("bell\a"),
        std::string("caf\xc3\xa9")}) {
    identity_.token_file = File("token", token);
    EXPECT_THAT(identity_.Read(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is not one word of printable ASCII")));
  }
  identity_.token_file = directory_ / "missing";
  EXPECT_THAT(identity_.Read(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("missing: is empty or cannot be read")));
}

}  // namespace
}  // namespace sluice
