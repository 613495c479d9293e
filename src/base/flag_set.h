// The flags of one program or command: each is declared with a target, and all
// are parsed once.
//
// A flag is written --name=value or --name value, a switch --name, --noname or
// --name=false.  One dash means the same as two, and a dash in a name the same
// as an underscore.  If a flag is given more than once, the last value holds.
// Flags may stand before, between and after the other arguments; "--" ends
// them.  A single "-" is no flag.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_BASE_FLAG_SET_H_
#define SLUICE_BASE_FLAG_SET_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glog/logging.h"

namespace sluice {

// The whole numbers from `min` to `max`, both included.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 0;
};

class FlagSet {
 public:
  // How a flag appears to the user: `value` names what follows the equals
  // sign, in capitals ("FILE"); `help` is one or more lines that say what the
  // flag does and what holds without it.  Lines too long for a terminal are
  // broken.
  struct Text {
    std::string_view name;
    std::string_view value;
    std::string_view help;
  };

  // Takes the value of a flag.  Errors: kInvalidArgument for an invalid value,
  // with a message that quotes the value and does not name the flag.
  using Setter = std::function<absl::Status(std::string_view)>;

  // The targets must outlive the set; a target keeps its value if the flag is
  // not given.  Each name is added once.
  void AddString(const Text& text, std::string* target);
  // REQUIRES: the range is in that of T.
  template <std::integral T>
  void AddInteger(const Text& text, IntegerRange range, T* target) {
    CHECK(std::in_range<T>(range.min) && std::in_range<T>(range.max));
    AddWhole(text, range, static_cast<int64_t>(*target),
             [target](int64_t value) { *target = static_cast<T>(value); });
  }
  // The user writes seconds, the range is in seconds, and the target is in
  // milliseconds.
  void AddSeconds(const Text& text, IntegerRange range, int64_t* target_ms);
  // A finite number from 0 up.
  void AddNumber(const Text& text, double* target);
  // A word out of `choices`.
  void AddChoice(const Text& text, const std::vector<std::string>& choices,
                 std::string* target);
  // A word that stands for a value.  REQUIRES: the target has one of these.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void AddChoice(const Text& text,
                 std::vector<std::pair<std::string, Enum>> choices,
                 Enum* target) {
    std::vector<std::string> words;
    size_t initial = choices.size();
    for (const auto& [word, value] : choices) {
      if (value == *target) initial = words.size();
      words.push_back(word);
    }
    CHECK_LT(initial, choices.size());
    AddWord(text, words, words[initial],
            [choices = std::move(choices), target](size_t index) {
              *target = choices[index].second;
            });
  }
  void AddSwitch(std::string_view name, std::string_view help, bool* target);
  // A flag of another kind; `initial` is its default, as the user writes it.
  // If the flag is given several times, `set` takes each value.  If `text`
  // names no value, the flag is a switch: it is set to what follows the equals
  // sign, or to "true" or "false".
  void AddOther(const Text& text, std::string initial, Setter set);
  // A flag that names a file with flags of this set, --name=value, one per
  // line. Blank lines and lines that begin with '#' are ignored.
  void AddFile(const Text& text);

  // Sets the targets of the flags at the beginning of `arguments` and returns
  // how many arguments they took.  "-h" is read as "--help".
  // Errors: kInvalidArgument for an unknown flag, a missing or unwanted value,
  // an invalid value, a file that cannot be read.
  absl::StatusOr<size_t> ParseLeading(
      std::span<const std::string> arguments) const;

  // Sets the targets of all flags and returns the other arguments in order.
  // Errors: as for ParseLeading.
  absl::StatusOr<std::vector<std::string>> Parse(
      std::span<const std::string> arguments) const;

  // One paragraph for each flag, in the order in which they were added.
  std::string Help() const { return Describe(/*with_defaults=*/false); }
  // The same with each flag's default in parentheses after its name, unless
  // that is empty or a switch that is off.
  std::string HelpWithDefaults() const {
    return Describe(/*with_defaults=*/true);
  }

 private:
  struct Flag {
    std::string name;
    std::string value;  // Empty for a switch.
    std::string help;
    std::string initial;
    Setter set;  // Null: the value names a file with flags.
  };

  void AddWhole(const Text& text, IntegerRange range, int64_t initial,
                std::function<void(int64_t)> take);
  void AddWord(const Text& text, std::vector<std::string> choices,
               std::string initial, std::function<void(size_t)> choose);

  const Flag* Find(std::string_view name) const;
  absl::Status UnknownFlag(std::string_view argument,
                           std::string_view name) const;
  // `depth` counts the files that name each other, down to this flag.
  absl::StatusOr<size_t> ParseOne(std::span<const std::string> arguments,
                                  int depth) const;
  absl::Status Set(const Flag& flag, std::string_view value, int depth) const;
  absl::Status ReadFile(const std::string& path, int depth) const;

  std::string Describe(bool with_defaults) const;

  std::vector<Flag> flags_;
};

// Errors: kInvalidArgument if `text` is not a whole number in `range`, with a
// message that quotes it: "'x' is not a whole number from 1 to 8".
absl::StatusOr<int64_t> ParseInteger(std::string_view text, IntegerRange range);

}  // namespace sluice

#endif  // SLUICE_BASE_FLAG_SET_H_
