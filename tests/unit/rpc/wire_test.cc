#include "rpc/wire.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "firmament/firmament_scheduler.pb.h"
#include "util/nested_tree.h"

namespace sluice {
namespace {

grpc::ByteBuffer BytesOf(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

TEST(Wire, ReadsWhatItWrote) {
  firmament::TaskUID message;
  message.set_task_uid(77);
  firmament::TaskUID copy;
  EXPECT_TRUE(ParseMessage(SerializeMessage(message), &copy));
  EXPECT_EQ(copy.task_uid(), 77u);
}

TEST(Wire, TakesNoBytesForAnEmptyMessage) {
  firmament::TaskUID message;
  EXPECT_TRUE(ParseMessage(SerializeMessage(message), &message));
  EXPECT_TRUE(ParseMessage(BytesOf(""), &message));
}

TEST(Wire, ReadsAMessageThatCameInPieces) {
  firmament::ResourceUID message;
  message.set_resource_uid(std::string(1000, 'x'));
  const std::string text = message.SerializeAsString();
  const grpc::Slice slices[] = {grpc::Slice(text.substr(0, 5)),
                                grpc::Slice(text.substr(5))};
  firmament::ResourceUID copy;
  EXPECT_TRUE(ParseMessage(grpc::ByteBuffer(slices, 2), &copy));
  EXPECT_EQ(copy.resource_uid(), message.resource_uid());
}

TEST(Wire, RefusesWhatIsNoMessage) {
  for (const std::string& text :
       {std::string("\xff\xff\xff\xff"), std::string("\x08"),
        std::string("\x0a\x05x"), std::string("\x0c"), std::string("\x00", 1),
        std::string("\x0a\x01\xff")}) {
    firmament::ResourceUID message;
    EXPECT_FALSE(ParseMessage(BytesOf(text), &message))
        << testing::PrintToString(text);
  }
}

TEST(Wire, ReadsTreesUpToTheBoundOfDepthAndRefusesDeeperOnes) {
  firmament::ResourceTopologyNodeDescriptor tree;
  EXPECT_TRUE(ParseMessage(BytesOf(NestedTree(1000)), &tree));
  EXPECT_TRUE(ParseMessage(BytesOf(NestedTree(kMessageDepthMax)), &tree));
  EXPECT_FALSE(ParseMessage(BytesOf(NestedTree(kMessageDepthMax + 2)), &tree));
}

}  // namespace
}  // namespace sluice
