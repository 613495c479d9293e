// One line of an event file: {"nodeAdded": {...}}.
//
// The one key names a method of the contract, first letter in lower case; the
// value is the method's request in proto3's JSON mapping.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_EVENT_LINE_H_
#define SLUICE_CLI_CLIENT_EVENT_LINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace sluice {

struct Event {
  const google::protobuf::MethodDescriptor* method;
  std::unique_ptr<google::protobuf::Message> request;
};

// True if `line` has nothing to send: it is blank, or its first visible
// characters are # or //.
bool IsCommentLine(std::string_view line);

// The name of a line in errors: "demo.jsonl, line 3"; for "-", "line 3".
std::string LineName(std::string_view path, int64_t number);

// Errors: kInvalidArgument with the reason, without the line's number.
absl::StatusOr<Event> ParseEventLine(std::string_view line);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_EVENT_LINE_H_
