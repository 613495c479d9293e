#include "base/flag_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "glog/logging.h"

namespace sluice {
namespace {

// Enough of a bad value for the user to recognize it.
constexpr size_t kShownBytes = 64;

std::string Quoted(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

// True if all of `text` is a number, which is then in `value`.
template <class Number>
bool ReadWhole(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

bool IsFlag(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-';
}

}  // namespace

absl::StatusOr<int64_t> ParseInteger(std::string_view text,
                                     IntegerRange range) {
  int64_t value = 0;
  if (!ReadWhole(text, value) || value < range.min || value > range.max) {
    return absl::InvalidArgumentError(StrCat(Quoted(text),
                                             " is not a whole number from ",
                                             range.min, " to ", range.max));
  }
  return value;
}

void FlagSet::Add(const Text& text,
                  std::function<absl::Status(std::string_view)> set) {
  for (const Flag& flag : flags_) CHECK_NE(flag.name, text.name);
  flags_.push_back({.name = std::string(text.name),
                    .value = std::string(text.value),
                    .help = std::string(text.help),
                    .set = std::move(set)});
}

void FlagSet::AddString(const Text& text, std::string* target) {
  Add(text, [target](std::string_view value) {
    *target = value;
    return absl::OkStatus();
  });
}

void FlagSet::AddInteger(const Text& text, IntegerRange range,
                         int64_t* target) {
  Add(text, [range, target](std::string_view value) -> absl::Status {
    ASSIGN_OR_RETURN(*target, ParseInteger(value, range));
    return absl::OkStatus();
  });
}

void FlagSet::AddNumber(const Text& text, double* target) {
  Add(text, [target](std::string_view value) {
    double number = 0;
    if (!ReadWhole(value, number) || !std::isfinite(number) || number < 0) {
      return absl::InvalidArgumentError(
          StrCat(Quoted(value), " is not a number from 0 up"));
    }
    *target = number;
    return absl::OkStatus();
  });
}

void FlagSet::AddChoice(const Text& text, std::vector<std::string> choices,
                        std::string* target) {
  Add(text, [choices = std::move(choices), target](std::string_view value) {
    if (std::ranges::find(choices, value) == choices.end()) {
      std::string names;
      for (const std::string& choice : choices) {
        names += StrCat(names.empty() ? "" : " or ", choice);
      }
      return absl::InvalidArgumentError(
          StrCat(Quoted(value), " is not ", names));
    }
    *target = value;
    return absl::OkStatus();
  });
}

void FlagSet::AddSwitch(std::string_view name, std::string_view help,
                        bool* target) {
  Add({.name = name, .value = "", .help = help}, [target](std::string_view) {
    *target = true;
    return absl::OkStatus();
  });
}

absl::StatusOr<size_t> FlagSet::ParseOne(
    std::span<const std::string> arguments) const {
  std::string_view argument = arguments.front();
  if (argument == "-h") argument = "--help";
  const std::string_view body =
      argument.starts_with("--") ? argument.substr(2) : std::string_view();
  const size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  const auto flag = std::ranges::find(flags_, name, &Flag::name);
  if (name.empty() || flag == flags_.end()) {
    std::vector<std::string> names;
    for (const Flag& known : flags_) names.push_back(known.name);
    std::string nearest = NearestName(name, names);
    return absl::InvalidArgumentError(
        nearest.empty() ? StrCat("unknown flag ", Quoted(argument))
                        : StrCat("unknown flag ", Quoted(argument),
                                 "; did you mean --", nearest, "?"));
  }
  const bool has_value = equals != std::string_view::npos;
  if (flag->value.empty()) {
    if (has_value) {
      return absl::InvalidArgumentError(StrCat("--", name, " takes no value"));
    }
    RETURN_IF_ERROR(flag->set(""));
    return 1;
  }
  if (!has_value && arguments.size() < 2) {
    return absl::InvalidArgumentError(
        StrCat("--", name, " needs a value: --", name, "=", flag->value));
  }
  const std::string_view value =
      has_value ? body.substr(equals + 1) : std::string_view(arguments[1]);
  RETURN_IF_ERROR(Annotate(flag->set(value), StrCat("--", name)));
  return has_value ? 1 : 2;
}

absl::StatusOr<size_t> FlagSet::ParseLeading(
    std::span<const std::string> arguments) const {
  size_t taken = 0;
  while (taken < arguments.size() && IsFlag(arguments[taken]) &&
         arguments[taken] != "--") {
    ASSIGN_OR_RETURN(const size_t count, ParseOne(arguments.subspan(taken)));
    taken += count;
  }
  return taken;
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(
    std::span<const std::string> arguments) const {
  std::vector<std::string> others;
  while (true) {
    ASSIGN_OR_RETURN(const size_t taken, ParseLeading(arguments));
    arguments = arguments.subspan(taken);
    if (arguments.empty()) return others;
    if (arguments.front() == "--") {
      others.insert(others.end(), arguments.begin() + 1, arguments.end());
      return others;
    }
    others.push_back(arguments.front());
    arguments = arguments.subspan(1);
  }
}

std::string FlagSet::Help() const {
  std::string help;
  for (const Flag& flag : flags_) {
    help += StrCat("  --", flag.name, flag.value.empty() ? "" : "=", flag.value,
                   "\n");
    std::string_view rest = flag.help;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      help += StrCat("      ", rest.substr(0, end), "\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return help;
}

}  // namespace sluice
