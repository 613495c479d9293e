// Says in words for people why JSON cannot be read as a message.
//
// Protobuf's parser has its own words: "(task_uid): invalid value \"x\" for
// type TYPE_UINT64".  This file knows those of the versions that we build with,
// and shows unknown ones as they are.
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

// What protobuf's parser calls `fault`, in JSON of `type`, in our words.
std::string JsonFaultText(std::string_view fault,
                          const google::protobuf::Descriptor& type);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_JSON_FAULT_H_
