// Converts messages to and from the bytes of a call.
//
// The services parse requests themselves.  If gRPC cannot parse one, it answers
// with a status that makes the clients of the contract exit.
//
// Threads: free functions without state.

#ifndef SLUICE_RPC_WIRE_H_
#define SLUICE_RPC_WIRE_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

namespace sluice {

// Parses `bytes`, nested at most kMessageDepthMax deep, into `message`, which
// is empty.  Returns false if they are not such a message; `message` is then
// unusable.
bool ParseMessage(const grpc::ByteBuffer& bytes,
                  google::protobuf::MessageLite* message);

grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message);

}  // namespace sluice

#endif  // SLUICE_RPC_WIRE_H_
