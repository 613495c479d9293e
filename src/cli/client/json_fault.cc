#include "cli/client/json_fault.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "base/strings.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"

namespace sluice {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

constexpr size_t kShownBytes = 240;
constexpr std::string_view kTypePrefix = "type.googleapis.com/";

struct Words {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array kGrammar = {
    Words{"Expected , or } after key:value pair.",
          "a comma or a closing brace is missing"},
    Words{"Expected , or ] after array value.",
          "a comma or a closing bracket is missing"},
    Words{"Expected : between key:value pair.", "a colon is missing"},
    Words{"Expected an object key or }.",
          "a key in quotes or a closing brace is missing"},
    Words{"Expected an object key.", "a key in quotes is missing"},
    Words{"Expected a value.", "a value is missing"},
    Words{"Unexpected token.", "a value is missing"},
    Words{"Unexpected end of string.", "something is missing"},
    Words{"Closing quote expected in string.", "a closing quote is missing"},
    Words{"Unable to parse number.", "a number is wrong"},
    Words{"Number exceeds the range of double.", "a number is too large"},
    Words{"Encountered non UTF-8 code points.", "a text is not UTF-8"},
    Words{"Missing low surrogate.", "half of a \\u pair is missing"},
    Words{"Invalid escape sequence.", "an escape is wrong"},
    Words{"Illegal hex string.", "an escape is wrong"},
    Words{"Message too deep.", "objects are nested too deeply"}};

constexpr std::array kTypes = {
    Words{"TYPE_UINT64", "a whole number from 0 up"},
    Words{"TYPE_UINT32", "a whole number from 0 up"},
    Words{"TYPE_FIXED64", "a whole number from 0 up"},
    Words{"TYPE_FIXED32", "a whole number from 0 up"},
    Words{"TYPE_INT64", "a whole number"},
    Words{"TYPE_INT32", "a whole number"},
    Words{"TYPE_SINT64", "a whole number"},
    Words{"TYPE_SINT32", "a whole number"},
    Words{"TYPE_DOUBLE", "a number"},
    Words{"TYPE_FLOAT", "a number"},
    Words{"TYPE_BOOL", "true or false"},
    Words{"TYPE_STRING", "a text in quotes"},
    Words{"TYPE_BYTES", "bytes in base64"}};

// "resource_desc.available_resources" as files spell it, in camel case.
std::string InCamelCase(std::string_view path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '_' && i + 1 < path.size()) {
      text += static_cast<char>(
          std::toupper(static_cast<unsigned char>(path[++i])));
    } else {
      text += path[i];
    }
  }
  return text;
}

// The message type at `path` below `type`; null if there is none.
const Descriptor* TypeAt(std::string_view path, const Descriptor* type) {
  while (!path.empty() && type != nullptr) {
    const std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(step.size() + 1, path.size()));
    const std::string name(step.substr(0, step.find('[')));
    const FieldDescriptor* field = type->FindFieldByName(name);
    type = field == nullptr ? nullptr : field->message_type();
  }
  return type;
}

std::string NoFieldText(std::string_view path, std::string_view name,
                        const Descriptor& type) {
  std::vector<std::string> names;
  if (const Descriptor* holder = TypeAt(path, &type)) {
    for (int i = 0; i < holder->field_count(); ++i) {
      names.push_back(holder->field(i)->json_name());
    }
  }
  return StrCat(path.empty() ? "there is" : StrCat(InCamelCase(path), " has"),
                " no field '", Printable(name, kShownBytes), "'",
                DidYouMean(name, names));
}

std::string ValuesOf(const EnumDescriptor& type) {
  constexpr int kNamesMax = 12;
  std::string names;
  for (int i = 0; i < std::min(type.value_count(), kNamesMax); ++i) {
    names += StrCat(i == 0 ? "" : ", ", type.value(i)->name());
  }
  return StrCat("one of ", names,
                type.value_count() > kNamesMax ? ", ..." : "");
}

// What a field holds whose type the parser calls `name`.
std::string TypeText(std::string_view name, const Descriptor& root) {
  const auto* const it = std::ranges::find(kTypes, name, &Words::theirs);
  if (it != kTypes.end()) return std::string(it->ours);
  if (name.starts_with(kTypePrefix)) {
    const EnumDescriptor* type = root.file()->pool()->FindEnumTypeByName(
        std::string(name.substr(kTypePrefix.size())));
    return type == nullptr ? "an object in braces" : ValuesOf(*type);
  }
  return "what belongs there";
}

// For "(path): invalid value VALUE for type NAME"; empty for another fault.
std::string WrongValueText(std::string_view path, std::string_view rest,
                           const Descriptor& type) {
  constexpr std::string_view kBegin = ": invalid value ";
  constexpr std::string_view kMiddle = " for type ";
  const size_t middle = rest.rfind(kMiddle);
  if (!rest.starts_with(kBegin) || middle == std::string_view::npos ||
      middle < kBegin.size()) {
    return "";
  }
  const std::string_view value =
      rest.substr(kBegin.size(), middle - kBegin.size());
  const std::string_view name = rest.substr(middle + kMiddle.size());
  if (value.starts_with("Starting an object")) {
    return StrCat(InCamelCase(path), path.empty() ? "" : ".", InCamelCase(name),
                  ": takes no object");
  }
  return StrCat(InCamelCase(path), ": ", Printable(value, kShownBytes),
                " is not ", TypeText(name, type));
}

// What is wrong with a field, or empty.
std::string FieldText(std::string_view fault, const Descriptor& type) {
  std::string_view path;
  std::string_view rest = fault;
  const size_t end = fault.find(')');
  if (fault.starts_with('(') && end != std::string_view::npos) {
    path = fault.substr(1, end - 1);
    rest = fault.substr(end + 1);
    std::string text = WrongValueText(path, rest, type);
    if (!text.empty()) return text;
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  const size_t colon = rest.rfind(": ");
  if (colon == std::string_view::npos) return "";
  const std::string_view name = rest.substr(0, colon);
  const std::string_view what = rest.substr(colon + 2);
  if (what == "Cannot find field.") return NoFieldText(path, name, type);
  if (what.starts_with("Proto field is not repeating")) {
    return StrCat(InCamelCase(path), path.empty() ? "" : ".", InCamelCase(name),
                  ": takes one value, not a list");
  }
  return "";
}

// Where the fault is: the parser's third line points into its second.
std::string PlaceText(std::string_view fault) {
  const size_t first = fault.find('\n');
  if (first == std::string_view::npos) return "";
  const std::string_view lines = fault.substr(first + 1);
  const size_t second = lines.find('\n');
  if (second == std::string_view::npos) return "";
  const size_t caret = lines.substr(second + 1).find('^');
  if (caret == std::string_view::npos) return "";
  if (caret >= second) return " at the end";
  return StrCat(" before '",
                Printable(lines.substr(caret, second - caret), kShownBytes),
                "'");
}

}  // namespace

std::string JsonFaultText(std::string_view fault, const Descriptor& type) {
  const std::string_view first = fault.substr(0, fault.find('\n'));
  for (const Words& words : kGrammar) {
    if (first.starts_with(words.theirs)) {
      return StrCat(words.ours, PlaceText(fault));
    }
  }
  std::string text = FieldText(first, type);
  return text.empty() ? Printable(first, kShownBytes) : text;
}

absl::Status ReadJson(std::string_view json,
                      google::protobuf::Message* message) {
  const auto status = google::protobuf::util::JsonStringToMessage(
      {json.data(), json.size()}, message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      JsonFaultText(status.message().ToString(), *message->GetDescriptor()));
}

}  // namespace sluice
