// From a record to a message whose fields have the same names, and back.
//
// A record is a struct that lists its fields:
//
//   struct HostPort {
//     std::string protocol;
//     int32_t port;
//
//     template <class Self, class Visitor>
//     static void VisitFields(Self& self, Visitor& visit) {
//       visit("protocol", self.protocol);
//       visit("port", self.port, 1, 65535);
//     }
//   };
//
// A field is a text, a bool, a number with its bounds, an enum with its last
// value (in the message an enum or a number), a record, one of these that may
// be absent, or a list of texts or records: ascending, none twice.  A list that
// may be absent is the first field of a message of its own.
//
// A record may have `std::string Fault() const`, which says what else is wrong
// with it, and "" if nothing is.
//
// Names and types that do not fit each other end the process; no value does.
//
// Threads: pure functions.

#ifndef SLUICE_MESSAGES_FIELDS_H_
#define SLUICE_MESSAGES_FIELDS_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "google/protobuf/message.h"

namespace sluice {

template <class T>
concept EnumField = std::is_enum_v<T>;
template <class T>
concept RecordField = std::is_class_v<T> && !std::same_as<T, std::string>;

// What lists have to be where they are read.
enum class ListsAre {
  kInOrder,   // What is in another order is wrong.
  kAnyOrder,  // They are put in order.
};

template <class Record>
void WriteFields(const Record& record, google::protobuf::Message* message);

// Returns what is wrong, "port: 0 is not in 1 to 65535", or "" if nothing is;
// `record` is only good then.
template <class Record>
std::string ReadFields(const google::protobuf::Message& message, ListsAre lists,
                       Record* record);

// Sets fields of a message.
class FieldWriter {
 public:
  // `message` must outlive it.
  explicit FieldWriter(google::protobuf::Message* message)
      : message_(*message) {}

  void operator()(const char* name, const std::string& text) const;

  template <std::integral T>
  void operator()(const char* name, T number,
                  std::type_identity_t<T> /*least*/ = {},
                  std::type_identity_t<T> /*most*/ = {}) const {
    SetNumber(name, static_cast<int64_t>(number));
  }

  template <EnumField T>
  void operator()(const char* name, T value, T /*last*/) const {
    SetNumber(name, static_cast<int64_t>(value));
  }

  template <class T, class... Bounds>
  void operator()(const char* name, const std::optional<T>& value,
                  Bounds... bounds) const {
    if (value.has_value()) (*this)(name, *value, bounds...);
  }

  template <class T>
  void operator()(const char* name,
                  const std::optional<std::vector<T>>& items) const {
    if (!items.has_value()) return;
    google::protobuf::Message* list = Nested(name);
    const FieldWriter writer(list);
    writer(FirstField(*list), *items);
  }

  void operator()(const char* name,
                  const std::vector<std::string>& texts) const;

  template <class Record>
  void operator()(const char* name, const std::vector<Record>& records) const {
    for (const Record& record : records) WriteFields(record, Added(name));
  }

  template <RecordField Record>
  void operator()(const char* name, const Record& record) const {
    WriteFields(record, Nested(name));
  }

 private:
  friend class FieldReader;

  static const char* FirstField(const google::protobuf::Message& message);
  void SetNumber(const char* name, int64_t number) const;
  google::protobuf::Message* Nested(const char* name) const;
  google::protobuf::Message* Added(const char* name) const;

  google::protobuf::Message& message_;
};

// Reads fields of a message, and keeps the first fault.
class FieldReader {
 public:
  // `message` must outlive it.
  FieldReader(const google::protobuf::Message& message, ListsAre lists)
      : message_(message), lists_(lists) {}

  const std::string& fault() const { return fault_; }

  void operator()(const char* name, std::string& text) const;

  template <std::integral T>
  void operator()(
      const char* name, T& number,
      std::type_identity_t<T> least = std::numeric_limits<T>::min(),
      std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
    number = static_cast<T>(NumberBetween(name, least, most));
  }

  template <EnumField T>
  void operator()(const char* name, T& value, T last) {
    value = static_cast<T>(NumberBetween(name, 0, static_cast<int64_t>(last)));
  }

  template <class T, class... Bounds>
  void operator()(const char* name, std::optional<T>& value, Bounds... bounds) {
    if (Has(name)) (*this)(name, value.emplace(), bounds...);
  }

  template <class T>
  void operator()(const char* name, std::optional<std::vector<T>>& items) {
    if (!Has(name)) return;
    const google::protobuf::Message& list = Nested(name);
    FieldReader reader(list, lists_);
    reader(FieldWriter::FirstField(list), items.emplace());
    Note(name, reader.fault());
  }

  template <class T>
  void operator()(const char* name, std::vector<T>& items) {
    items.resize(static_cast<size_t>(SizeOf(name)));
    for (size_t i = 0; i < items.size(); ++i) {
      Read(name, static_cast<int>(i), items[i]);
    }
    if (lists_ == ListsAre::kAnyOrder) {
      std::ranges::sort(items);
      items.erase(std::unique(items.begin(), items.end()), items.end());
    } else if (std::ranges::adjacent_find(
                   items, std::ranges::greater_equal()) != items.end()) {
      Note(name, "out of order");
    }
  }

  template <RecordField Record>
  void operator()(const char* name, Record& record) {
    Note(name, ReadFields(Nested(name), lists_, &record));
  }

 private:
  bool Has(const char* name) const;
  int SizeOf(const char* name) const;
  int64_t NumberBetween(const char* name, int64_t least, int64_t most);
  const google::protobuf::Message& Nested(const char* name) const;
  const google::protobuf::Message& Item(const char* name, int index) const;

  void Read(const char* name, int index, std::string& text) const;
  template <RecordField Record>
  void Read(const char* name, int index, Record& record) {
    Note(name, ReadFields(Item(name, index), lists_, &record));
  }
  // Does nothing where `fault` is "".
  void Note(const char* name, std::string_view fault) {
    if (fault_.empty() && !fault.empty()) fault_ = StrCat(name, ": ", fault);
  }

  const google::protobuf::Message& message_;
  const ListsAre lists_;
  std::string fault_;
};

template <class Record>
void WriteFields(const Record& record, google::protobuf::Message* message) {
  const FieldWriter writer(message);
  Record::VisitFields(record, writer);
}

template <class Record>
std::string ReadFields(const google::protobuf::Message& message, ListsAre lists,
                       Record* record) {
  FieldReader reader(message, lists);
  Record::VisitFields(*record, reader);
  if constexpr (requires { record->Fault(); }) {
    if (reader.fault().empty()) return record->Fault();
  }
  return reader.fault();
}

}  // namespace sluice

#endif  // SLUICE_MESSAGES_FIELDS_H_
