// The flags of one command: declared with a target each, parsed once.
//
// A flag is written --name=value or --name value, a switch --name.  Flags may
// stand before, between and after the other arguments; "--" ends them.  A
// single "-" is no flag.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_BASE_FLAG_SET_H_
#define SLUICE_BASE_FLAG_SET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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
  // flag does and what holds without it.
  struct Text {
    std::string_view name;
    std::string_view value;
    std::string_view help;
  };

  // The targets must outlive the set; they keep what they hold where the flag
  // is not given.  Each name is added once.
  void AddString(const Text& text, std::string* target);
  void AddInteger(const Text& text, IntegerRange range, int64_t* target);
  // A finite number from 0 up.
  void AddNumber(const Text& text, double* target);
  // A word out of `choices`.
  void AddChoice(const Text& text, std::vector<std::string> choices,
                 std::string* target);
  void AddSwitch(std::string_view name, std::string_view help, bool* target);

  // Sets the targets of the flags at the beginning of `arguments` and returns
  // how many arguments they took.  "-h" is read as "--help".
  // Errors: kInvalidArgument for an unknown flag, a missing or unwanted value,
  // a value that cannot be.
  absl::StatusOr<size_t> ParseLeading(
      std::span<const std::string> arguments) const;

  // Sets the targets of all flags and returns the other arguments in order.
  // Errors: as for ParseLeading.
  absl::StatusOr<std::vector<std::string>> Parse(
      std::span<const std::string> arguments) const;

  // One paragraph a flag, in the order in which they were added.
  std::string Help() const;

 private:
  struct Flag {
    std::string name;
    std::string value;  // Empty for a switch.
    std::string help;
    std::function<absl::Status(std::string_view)> set;
  };

  void Add(const Text& text, std::function<absl::Status(std::string_view)> set);
  absl::StatusOr<size_t> ParseOne(std::span<const std::string> arguments) const;

  std::vector<Flag> flags_;
};

// Errors: kInvalidArgument if `text` is not a whole number in `range`, with a
// message that quotes it: "'x' is not a whole number from 1 to 8".
absl::StatusOr<int64_t> ParseInteger(std::string_view text, IntegerRange range);

}  // namespace sluice

#endif  // SLUICE_BASE_FLAG_SET_H_
