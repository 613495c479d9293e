#include "rpc/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <string>

#include "base/limits.h"

namespace sluice {

bool ParseMessage(const grpc::ByteBuffer& bytes,
                  google::protobuf::MessageLite* message) {
  grpc::ByteBuffer shared(bytes);  // The bytes themselves are not copied.
  grpc::ProtoBufferReader reader(&shared);
  if (!reader.status().ok()) return false;
  google::protobuf::io::CodedInputStream input(&reader);
  input.SetRecursionLimit(kMessageDepthMax);
  return message->ParseFromCodedStream(&input) && input.ConsumedEntireMessage();
}

grpc::ByteBuffer SerializeMessage(
    const google::protobuf::MessageLite& message) {
  const std::string text = message.SerializeAsString();
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace sluice
