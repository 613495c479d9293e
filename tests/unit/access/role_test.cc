#include "access/role.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "firmament/firmament_scheduler.pb.h"
#include "sluice/v1/feed.pb.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

// All methods of the file's services, by their paths.
std::map<std::string, Role> RolesOf(
    const google::protobuf::FileDescriptor* file) {
  std::map<std::string, Role> roles;
  for (int i = 0; i < file->service_count(); ++i) {
    const google::protobuf::ServiceDescriptor* const service = file->service(i);
    for (int j = 0; j < service->method_count(); ++j) {
      const std::string path =
          "/" + service->full_name() + "/" + service->method(j)->name();
      roles[path] = RoleFor(path);
    }
  }
  return roles;
}

TEST(Role, TheContractNeedsWriteButForItsProbe) {
  const auto roles = RolesOf(firmament::TaskDescription::descriptor()->file());
  EXPECT_EQ(roles.size(), 14u);
  for (const auto& [path, role] : roles) {
    EXPECT_EQ(role, path.ends_with("/Check") ? Role::kNone : Role::kWrite)
        << path;
  }
}

TEST(Role, FeedsNeedWrite) {
  for (const auto& [path, role] :
       RolesOf(v1::FeedRequest::descriptor()->file())) {
    EXPECT_EQ(role, Role::kWrite) << path;
  }
}

TEST(Role, TheInspectorNeedsReadButForWhatChangesSomething) {
  const auto roles = RolesOf(v1::Status::descriptor()->file());
  EXPECT_GE(roles.size(), 12u);
  for (const auto& [path, role] : roles) {
    const bool changes =
        path.ends_with("/ForgetStale") || path.ends_with("/DrainMachine");
    EXPECT_EQ(role, changes ? Role::kAdmin : Role::kRead) << path;
  }
}

TEST(Role, ProbesNeedNoneAndWhatIsNotKnownNeedsTheHighest) {
  EXPECT_EQ(RoleFor("/grpc.health.v1.Health/Check"), Role::kNone);
  EXPECT_EQ(RoleFor("/grpc.health.v1.Health/Watch"), Role::kNone);
  for (const char* path :
       {"", "/", "/x.Y/Z", "/grpc.health.v1.Healthy/Check",
        "grpc.health.v1.Health/Check", "/sluice.v1.Inspector",
        "/SLUICE.V1.Inspector/GetStatus"}) {
    EXPECT_EQ(RoleFor(path), Role::kAdmin) << path;
  }
}

TEST(Role, IsReadAsItIsWritten) {
  for (const Role role : {Role::kRead, Role::kWrite, Role::kAdmin}) {
    EXPECT_EQ(ParseRole(ToString(role)), role);
  }
  for (const char* text : {"", "none", "Read", "root"}) {
    EXPECT_EQ(ParseRole(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sluice
