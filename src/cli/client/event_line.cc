#include "cli/client/event_line.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/client/contract.h"
#include "cli/client/json_fault.h"

namespace sluice {
namespace {

// Errors repeat this much of a name or a reason, enough to find the fault.
constexpr size_t kShownBytes = 240;

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// Where the JSON object at the start of `text` ends, found by counting braces
// outside strings; npos if it does not end.
size_t EndOfObject(std::string_view text) {
  size_t depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        is_in_string = false;
      }
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// The parts of {"key": {...}}.  The text of the value is not parsed.
struct KeyAndValue {
  std::string_view key;
  std::string_view value;
};

absl::StatusOr<KeyAndValue> TakeApart(std::string_view line) {
  const absl::Status not_an_event =
      absl::InvalidArgumentError("not of the form {\"eventName\": {...}}");
  std::string_view rest = Trimmed(line);
  if (!rest.starts_with('{')) return not_an_event;
  rest = Trimmed(rest.substr(1));
  if (!rest.starts_with('"')) return not_an_event;
  const size_t key_end = rest.find('"', 1);
  if (key_end == std::string_view::npos) return not_an_event;
  const std::string_view key = rest.substr(1, key_end - 1);
  rest = Trimmed(rest.substr(key_end + 1));
  if (!rest.starts_with(':')) return not_an_event;
  rest = Trimmed(rest.substr(1));
  if (!rest.starts_with('{')) return not_an_event;
  const size_t value_end = EndOfObject(rest);
  if (value_end == std::string_view::npos) {
    return absl::InvalidArgumentError("a closing brace is missing");
  }
  const std::string_view value = rest.substr(0, value_end);
  rest = Trimmed(rest.substr(value_end));
  if (rest.starts_with(',')) {
    return absl::InvalidArgumentError(
        StrCat("a line holds one event, but something follows ",
               Printable(key, kShownBytes)));
  }
  if (!rest.starts_with('}')) {
    return absl::InvalidArgumentError("a closing brace is missing");
  }
  if (!Trimmed(rest.substr(1)).empty()) {
    return absl::InvalidArgumentError("something follows the closing brace");
  }
  return KeyAndValue{.key = key, .value = value};
}

absl::StatusOr<const google::protobuf::MethodDescriptor*> FindEvent(
    std::string_view name) {
  const google::protobuf::ServiceDescriptor& service = SchedulerService();
  std::string known;
  for (int i = 0; i < service.method_count(); ++i) {
    const google::protobuf::MethodDescriptor* method = service.method(i);
    const std::string event_name = EventName(*method);
    if (event_name == name) return method;
    known += StrCat(known.empty() ? "" : ", ", event_name);
  }
  return absl::InvalidArgumentError(StrCat(
      "unknown event '", Printable(name, kShownBytes), "'; there are ", known));
}

}  // namespace

bool IsCommentLine(std::string_view line) {
  const std::string_view text = Trimmed(line);
  return text.empty() || text.starts_with('#') || text.starts_with("//");
}

std::string LineName(std::string_view path, int64_t number) {
  if (path == "-") return StrCat("line ", number);
  return StrCat(Printable(path, kShownBytes), ", line ", number);
}

absl::StatusOr<Event> ParseEventLine(std::string_view line) {
  ASSIGN_OR_RETURN(const KeyAndValue parts, TakeApart(line));
  Event event;
  ASSIGN_OR_RETURN(event.method, FindEvent(parts.key));
  event.request = MakeMessage(*event.method->input_type());
  RETURN_IF_ERROR(
      Annotate(ReadJson(parts.value, event.request.get()), parts.key));
  return event;
}

}  // namespace sluice
