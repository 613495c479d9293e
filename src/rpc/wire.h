// Messages to and from the bytes of a call.
//
// The services parse for themselves, because a request that gRPC cannot parse
// is answered by gRPC, with a status that ends the clients of the contract.
//
// Threads: free functions without state.

#ifndef SLUICE_RPC_WIRE_H_
#define SLUICE_RPC_WIRE_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

namespace sluice {

// Parses `bytes`, nested at most kMessageDepthMax deep, into `message`, which
// is empty.  Returns false, `message` being of no use then, if they are no
// such message.
bool ParseMessage(const grpc::ByteBuffer& bytes,
                  google::protobuf::MessageLite* message);

grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message);

}  // namespace sluice

#endif  // SLUICE_RPC_WIRE_H_
