// Random rules of every kind that TaskRules has, for suites that a new kind is
// to be in by itself.
//
// Threads: values.

#ifndef SLUICE_TESTS_UTIL_DRAWN_RULES_H_
#define SLUICE_TESTS_UTIL_DRAWN_RULES_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sluice/state/placement_rules.h"
#include "util/rules_builder.h"

namespace sluice {

// Draws the fields of a record (messages/fields.h).
class FieldDrawer {
 public:
  explicit FieldDrawer(Rng* rng) : rng_(*rng) {}

  // Of few, so that they meet what machines have (contract/worlds.h).
  void operator()(const char* /*name*/, std::string& text) const {
    constexpr std::array kTexts = {
        "disk", "example.com/cpus", "zone", "", "-1", "8", "ssd"};
    text = kTexts.at(rng_.Below(kTexts.size()));
  }

  template <std::integral T>
  void operator()(
      const char* /*name*/, T& number,
      std::type_identity_t<T> least = std::numeric_limits<T>::min(),
      std::type_identity_t<T> most = std::numeric_limits<T>::max()) const {
    number = static_cast<T>(rng_.Between(least, most));
  }

  template <class T>
  requires std::is_enum_v<T>
  void operator()(const char* /*name*/, T& value, T last) const {
    value = static_cast<T>(rng_.Between(0, static_cast<int64_t>(last)));
  }

  template <class T, class... Bounds>
  void operator()(const char* name, std::optional<T>& value,
                  Bounds... bounds) const {
    if (rng_.Chance(1, 2)) (*this)(name, value.emplace(), bounds...);
  }

  template <class T>
  void operator()(const char* name, std::vector<T>& items) const {
    items.resize(rng_.Below(3));
    for (T& item : items) (*this)(name, item);
    items = InOrder(std::move(items));
  }

  template <class Record>
  requires std::is_class_v<Record>
  void operator()(const char* /*name*/, Record& record) const {
    do {
      record = Record();
      Record::VisitFields(record, *this);
    } while (HasFault(record));
  }

 private:
  template <class Record>
  static bool HasFault(const Record& record) {
    if constexpr (requires { record.Fault(); }) return !record.Fault().empty();
    return false;
  }

  Rng& rng_;
};

// Leaves other rules as they are.
inline void DrawTaskRules(Rng* rng, PlacementRules* rules) {
  const FieldDrawer drawer(rng);
  PlacementRules::VisitFields(*rules, drawer);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_DRAWN_RULES_H_
