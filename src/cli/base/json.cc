#include "cli/base/json.h"

#include "base/strings.h"
#include "glog/logging.h"
#include "google/protobuf/util/json_util.h"

namespace sluice {

std::string JsonOf(const google::protobuf::Message& message,
                   JsonLayout layout) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.add_whitespace = layout == JsonLayout::kIndented;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  // Our messages hold neither Any nor the timestamps that could fail.
  CHECK(status.ok()) << status.ToString();
  while (json.ends_with('\n')) json.pop_back();
  return json;
}

std::string JsonString(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      json += StrCat("\\u00", kHexDigits[byte >> 4], kHexDigits[byte & 15]);
    } else {
      json += c;
    }
  }
  return json + '"';
}

}  // namespace sluice
