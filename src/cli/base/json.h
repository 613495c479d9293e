// JSON for programs: protobuf messages, and reports of numbers.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_BASE_JSON_H_
#define SLUICE_CLI_BASE_JSON_H_

#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace sluice {

// How JsonOf lays out its text.
enum class JsonLayout { kOneLine, kIndented };

// `message` in proto3's JSON mapping, fields of value zero included, without
// a newline at the end.
std::string JsonOf(const google::protobuf::Message& message, JsonLayout layout);

// `text` as a JSON string, quotes included.  Bytes above 126 are taken as they
// are: UTF-8 in, UTF-8 out.
std::string JsonString(std::string_view text);

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_JSON_H_
