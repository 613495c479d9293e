#include "base/flag_set.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
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

// Files may name other files, but not in a circle.
constexpr int kFileDepthMax = 8;

constexpr std::string_view kIndent = "      ";
constexpr size_t kHelpColumns = 80 - kIndent.size();

std::string Quoted(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

// True if all of `text` is a number; `value` is then that number.
template <class Number>
bool ReadWhole(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

// Nullopt if it is neither true nor false.
std::optional<bool> ReadTruth(std::string_view text) {
  constexpr std::array<std::string_view, 5> kTrue = {"1", "t", "true", "y",
                                                     "yes"};
  constexpr std::array<std::string_view, 5> kFalse = {"0", "f", "false", "n",
                                                      "no"};
  std::string word(text);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::ranges::find(kTrue, word) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, word) != kFalse.end()) return false;
  return std::nullopt;
}

bool IsFlag(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-';
}

char Underscored(char c) { return c == '-' ? '_' : c; }

std::string Trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  const size_t end = line.find_last_not_of(kBlanks) + 1;
  return std::string(line.substr(begin, end - begin));
}

// Where to break the line: at the last space that leaves it short enough; at
// the first space if there is none.
size_t BreakOf(std::string_view line) {
  if (line.size() <= kHelpColumns) return line.size();
  const size_t last = line.rfind(' ', kHelpColumns);
  if (last != std::string_view::npos) return last;
  return std::min(line.find(' '), line.size());
}

std::string Indented(std::string_view help) {
  std::string lines;
  while (!help.empty()) {
    const size_t end = BreakOf(help.substr(0, help.find('\n')));
    lines += StrCat(kIndent, help.substr(0, end), "\n");
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return lines;
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

void FlagSet::AddOther(const Text& text, std::string initial, Setter set) {
  CHECK(Find(text.name) == nullptr) << text.name;
  flags_.push_back({.name = std::string(text.name),
                    .value = std::string(text.value),
                    .help = std::string(text.help),
                    .initial = std::move(initial),
                    .set = std::move(set)});
}

void FlagSet::AddFile(const Text& text) { AddOther(text, "", nullptr); }

void FlagSet::AddString(const Text& text, std::string* target) {
  AddOther(text, *target, [target](std::string_view value) {
    *target = value;
    return absl::OkStatus();
  });
}

void FlagSet::AddWhole(const Text& text, IntegerRange range, int64_t initial,
                       std::function<void(int64_t)> take) {
  AddOther(
      text, StrCat(initial),
      [range, take = std::move(take)](std::string_view value) -> absl::Status {
        ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, range));
        take(number);
        return absl::OkStatus();
      });
}

void FlagSet::AddSeconds(const Text& text, IntegerRange range,
                         int64_t* target_ms) {
  CHECK_LE(range.max, std::numeric_limits<int64_t>::max() / 1000);
  AddWhole(text, range, *target_ms / 1000,
           [target_ms](int64_t value) { *target_ms = value * 1000; });
}

void FlagSet::AddNumber(const Text& text, double* target) {
  AddOther(text, StrCat(*target), [target](std::string_view value) {
    double number = 0;
    if (!ReadWhole(value, number) || !std::isfinite(number) || number < 0) {
      return absl::InvalidArgumentError(
          StrCat(Quoted(value), " is not a number from 0 up"));
    }
    *target = number;
    return absl::OkStatus();
  });
}

void FlagSet::AddWord(const Text& text, std::vector<std::string> choices,
                      std::string initial, std::function<void(size_t)> choose) {
  AddOther(text, std::move(initial),
           [choices = std::move(choices),
            choose = std::move(choose)](std::string_view value) {
             std::string names;
             for (size_t i = 0; i < choices.size(); ++i) {
               if (choices[i] == value) {
                 choose(i);
                 return absl::OkStatus();
               }
               names += StrCat(i == 0 ? "" : " or ", choices[i]);
             }
             return absl::InvalidArgumentError(
                 StrCat(Quoted(value), " is not ", names));
           });
}

void FlagSet::AddChoice(const Text& text,
                        const std::vector<std::string>& choices,
                        std::string* target) {
  AddWord(text, choices, *target,
          [choices, target](size_t index) { *target = choices[index]; });
}

void FlagSet::AddSwitch(std::string_view name, std::string_view help,
                        bool* target) {
  AddOther({.name = name, .value = "", .help = help}, StrCat(*target),
           [target](std::string_view value) {
             const std::optional<bool> truth = ReadTruth(value);
             if (!truth) {
               return absl::InvalidArgumentError(
                   StrCat(Quoted(value), " is not true or false"));
             }
             *target = *truth;
             return absl::OkStatus();
           });
}

const FlagSet::Flag* FlagSet::Find(std::string_view name) const {
  const auto flag = std::ranges::find_if(flags_, [&](const Flag& candidate) {
    return std::ranges::equal(candidate.name, name, {}, Underscored,
                              Underscored);
  });
  return flag == flags_.end() ? nullptr : &*flag;
}

absl::Status FlagSet::UnknownFlag(std::string_view argument,
                                  std::string_view name) const {
  std::vector<std::string> names;
  for (const Flag& known : flags_) names.push_back(known.name);
  const std::string nearest = NearestName(name, names);
  // The value may be a secret.
  const std::string shown =
      Quoted(name.empty() ? argument : argument.substr(0, argument.find('=')));
  return absl::InvalidArgumentError(
      nearest.empty()
          ? StrCat("unknown flag ", shown)
          : StrCat("unknown flag ", shown, "; did you mean --", nearest, "?"));
}

absl::StatusOr<size_t> FlagSet::ParseOne(std::span<const std::string> arguments,
                                         int depth) const {
  const std::string_view argument = arguments.front();
  const std::string_view body =
      argument.substr(argument.starts_with("--") ? 2 : 1);
  const size_t equals = body.find('=');
  const bool has_value = equals != std::string_view::npos;
  const std::string_view name =
      argument == "-h" ? "help" : body.substr(0, equals);

  const Flag* flag = Find(name);
  const bool is_negated = flag == nullptr && name.starts_with("no");
  if (is_negated) flag = Find(name.substr(2));
  if (flag == nullptr || (is_negated && !flag->value.empty())) {
    return UnknownFlag(argument, name);
  }
  if (is_negated && has_value) {
    return absl::InvalidArgumentError(StrCat("--", name, " takes no value"));
  }
  const bool takes_next = !has_value && !flag->value.empty();
  if (takes_next && arguments.size() < 2) {
    return absl::InvalidArgumentError(StrCat(
        "--", flag->name, " needs a value: --", flag->name, "=", flag->value));
  }
  const std::string_view value = has_value    ? body.substr(equals + 1)
                                 : takes_next ? std::string_view(arguments[1])
                                 : is_negated ? "false"
                                              : "true";
  RETURN_IF_ERROR(Set(*flag, value, depth));
  return takes_next ? 2 : 1;
}

absl::Status FlagSet::Set(const Flag& flag, std::string_view value,
                          int depth) const {
  return Annotate(
      flag.set ? flag.set(value) : ReadFile(std::string(value), depth + 1),
      StrCat("--", flag.name));
}

absl::Status FlagSet::ReadFile(const std::string& path, int depth) const {
  if (depth > kFileDepthMax) {
    return absl::InvalidArgumentError(StrCat(
        Quoted(path), " is at the end of too many files that name each other"));
  }
  std::ifstream file(path);
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const std::string argument = Trimmed(line);
    if (argument.empty() || argument.front() == '#') continue;
    const absl::Status status =
        IsFlag(argument) ? ParseOne(std::span(&argument, 1), depth).status()
                         : absl::InvalidArgumentError(
                               StrCat(Quoted(argument), " is no flag"));
    RETURN_IF_ERROR(
        Annotate(status, StrCat(Printable(path, kShownBytes), ":", number)));
  }
  if (file.eof()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(Quoted(path), " cannot be read"));
}

absl::StatusOr<size_t> FlagSet::ParseLeading(
    std::span<const std::string> arguments) const {
  size_t taken = 0;
  while (taken < arguments.size() && IsFlag(arguments[taken]) &&
         arguments[taken] != "--") {
    ASSIGN_OR_RETURN(const size_t count,
                     ParseOne(arguments.subspan(taken), /*depth=*/0));
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

std::string FlagSet::Describe(bool with_defaults) const {
  std::string help;
  for (const Flag& flag : flags_) {
    help +=
        StrCat("  --", flag.name, flag.value.empty() ? "" : "=", flag.value);
    const bool is_plain =
        flag.initial.empty() || (flag.value.empty() && flag.initial == "false");
    if (with_defaults && !is_plain) help += StrCat(" (", flag.initial, ")");
    help += StrCat("\n", Indented(flag.help));
  }
  return help;
}

}  // namespace sluice
