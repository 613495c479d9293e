// What is wrong with JSON that is to be a message, in words for people.
//
// Protobuf's parser says it in its own: "(task_uid): invalid value \"x\" for
// type TYPE_UINT64".  What it says is known here for the versions that we build
// with, and shown as it is where it is not.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_JSON_FAULT_H_
#define SLUICE_CLI_CLIENT_JSON_FAULT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace sluice {

// Reads `json` into `message` as protobuf does.
// Errors: kInvalidArgument: "taskUid: \"x\" is not a whole number from 0 up",
// "there is no field taskUuid; did you mean 'taskUid'?", "a comma or a closing
// brace is missing before '\"uid\": 3'".
absl::Status ReadJson(std::string_view json,
                      google::protobuf::Message* message);

// Says `fault` of protobuf's parser, about JSON of `type`, in our words.
std::string JsonFaultText(std::string_view fault,
                          const google::protobuf::Descriptor& type);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_JSON_FAULT_H_
