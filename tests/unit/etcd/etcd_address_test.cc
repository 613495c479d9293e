#include "etcd/etcd_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(EtcdAddress, HasEndpointsAndAPrefix) {
  const auto address =
      ParseEtcdAddress("etcd://10.0.0.1:2379,[::1]:23,e-0.etcd:65535/a/b");
  ASSERT_THAT(address, IsOk());
  EXPECT_THAT(address->endpoints,
              ElementsAre("10.0.0.1:2379", "[::1]:23", "e-0.etcd:65535"));
  EXPECT_EQ(address->prefix, "/a/b");
}

TEST(EtcdAddress, IsWrittenAsItIsRead) {
  for (const char* text :
       {"etcd://127.0.0.1:2379/sluice", "etcd://a:1,[::1]:2/x/y"}) {
    EXPECT_EQ(ToString(ParseEtcdAddress(text).value()), text);
  }
}

TEST(EtcdAddress, IsRefusedWithWhatIsWrong) {
  const struct {
    std::string text;
    std::string why;
  } cases[] = {
      {"", "'' does not begin with etcd://"},
      {"http://a:1/x", "'http://a:1/x' does not begin with etcd://"},
      {"etcd://", "'' is not HOST:PORT"},
      {"etcd:///x", "'' is not HOST:PORT"},
      {"etcd://a/x", "'a' is not HOST:PORT"},
      {"etcd://:1/x", "':1' is not HOST:PORT"},
      {"etcd://a:1,/x", "'' is not HOST:PORT"},
      {"etcd://::1:2/x", "'::1:2' is not HOST:PORT; put brackets around IPv6"},
      {"etcd://a b:1/x", "'a b:1' is not HOST:PORT"},
      {"etcd://a:0/x", "'a:0' needs a port from 1 to 65535"},
      {"etcd://a:65536/x", "'a:65536' needs a port from 1 to 65535"},
      {"etcd://a:x/x", "'a:x' needs a port from 1 to 65535"},
      {"etcd://a:1", "not followed by a prefix"},
      {"etcd://a:1/", "not followed by a prefix"},
      {"etcd://a:1//", "'//' has an empty part"},
      {"etcd://a:1/x/", "'/x/' has an empty part"},
      {"etcd://a:1/x y", "'/x y' has bytes that are not printable ASCII"},
      {"etcd://a:1/\xff", "'/\\xff' has bytes that are not printable ASCII"},
      {"etcd://a:1/" + std::string(256, 'x'), "has more than 256 bytes"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_THAT(ParseEtcdAddress(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << text;
  }
}

TEST(EtcdAddress, OfWhichAPartMayBeSecretIsNotRepeated) {
  for (const char* text :
       {"etcd://me:hunter2@a:1/x", "etcd://a:1,me:hunter2@b:1/x",
        "etcd://me:se/hunter2@a:1/x", "etcd://me:1,hunter2@a:1/x",
        "http://me:hunter2@a:1/x", "me:hunter2@a",
        "etcd://me:1/hunter2@a:1/x"}) {
    EXPECT_THAT(ParseEtcdAddress(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'@'"), Not(HasSubstr("hunter2")),
                               Not(HasSubstr("me:")))))
        << text;
  }
}

}  // namespace
}  // namespace sluice
