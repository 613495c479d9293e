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
// be absent, or a list of texts or records: ascending, without duplicates.  A
// list that may be absent is the first field of a message of its own.
//
// A record may have `std::string Fault() const`, which says what else is wrong
// with it; "" if nothing is.
//
// Names and types that do not match end the process; no value does.
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

#include "google/protobuf/message.h"

namespace sluice {

template <class T>
concept RecordField = std::is_class_v<T> && !std::same_as<T, std::string>;

// What order lists must have when they are read.
enum class ListsAre {
  kInOrder,   // Another order is a fault.
  kAnyOrder,  // The reader sorts them.
};

template <class Record>
void WriteFields(const Record& record, google::protobuf::Message* message);

// Returns what is wrong, "port: 0 is not in 1 to 65535", or "" if nothing is.
// After a fault the contents of `record` are unspecified.
template <class Record>
std::string ReadFields(const google::protobuf::Message& message, ListsAre lists,
                       Record* record);

// Whether the message, or one within it, has a field that this version does not
// know, since a newer one wrote it.
bool HasUnknownFields(const google::protobuf::Message& message);

// Finds fields of a message by their names; fast if they are asked for in the
// order of the message.
class FieldFinder {
 public:
  using Field = google::protobuf::FieldDescriptor;

  explicit FieldFinder(const google::protobuf::Message& message);
  const Field* Find(std::string_view name);

 private:
  const google::protobuf::Descriptor& descriptor_;
  int next_ = 0;
};

// Sets fields of a message.
class FieldWriter {
 public:
  // `message` must outlive it.
  explicit FieldWriter(google::protobuf::Message* message);

  template <class T, class... Bounds>
  void operator()(const char* name, const T& value, Bounds... /*bounds*/) {
    Write(finder_.Find(name), value);
  }

 private:
  using Field = FieldFinder::Field;
  using Message = google::protobuf::Message;

  void Write(const Field* field, const std::string& text) const;
  void Write(const Field* field, const std::vector<std::string>& texts) const;

  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void Write(const Field* field, T number) const {
    WriteNumber(field, static_cast<int64_t>(number));
  }

  template <class T>
  void Write(const Field* field, const std::optional<T>& value) const {
    if (value.has_value()) Write(field, *value);
  }

  template <class T>
  void Write(const Field* field,
             const std::optional<std::vector<T>>& items) const {
    if (!items.has_value()) return;
    Message* list = Nested(field);
    FieldWriter(list).Write(FirstField(*list), *items);
  }

  template <class Record>
  void Write(const Field* field, const std::vector<Record>& records) const {
    for (const Record& record : records) WriteFields(record, Added(field));
  }

  template <RecordField Record>
  void Write(const Field* field, const Record& record) const {
    WriteFields(record, Nested(field));
  }

  static const Field* FirstField(const Message& message);
  void WriteNumber(const Field* field, int64_t number) const;
  Message* Nested(const Field* field) const;
  Message* Added(const Field* field) const;

  Message& message_;
  const google::protobuf::Reflection& reflection_;
  FieldFinder finder_;
};

// Reads fields of a message, and keeps the first fault.
class FieldReader {
 public:
  // `message` must outlive it.
  FieldReader(const google::protobuf::Message& message, ListsAre lists);

  template <class T, class... Bounds>
  void operator()(const char* name, T& value, Bounds... bounds) {
    Read(finder_.Find(name), value, bounds...);
  }

  const std::string& fault() const { return fault_; }

 private:
  using Field = FieldFinder::Field;
  using Message = google::protobuf::Message;

  void Read(const Field* field, std::string& text) const;

  template <std::integral T>
  void Read(const Field* field, T& number,
            std::type_identity_t<T> least = std::numeric_limits<T>::min(),
            std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
    number = static_cast<T>(NumberBetween(field, least, most));
  }

  template <class T>
  requires std::is_enum_v<T>
  void Read(const Field* field, T& value, T last) {
    value = static_cast<T>(NumberBetween(field, 0, static_cast<int64_t>(last)));
  }

  template <class T, class... Bounds>
  void Read(const Field* field, std::optional<T>& value, Bounds... bounds) {
    if (Has(field)) Read(field, value.emplace(), bounds...);
  }

  template <class T>
  void Read(const Field* field, std::optional<std::vector<T>>& items) {
    if (!Has(field)) return;
    FieldReader reader(Nested(field), lists_);
    reader.Read(reader.FirstField(), items.emplace());
    Note(field, reader.fault());
  }

  template <class T>
  void Read(const Field* field, std::vector<T>& items) {
    items.resize(static_cast<size_t>(SizeOf(field)));
    for (size_t i = 0; i < items.size(); ++i) {
      ReadItem(field, static_cast<int>(i), items[i]);
    }
    if (lists_ == ListsAre::kAnyOrder) {
      std::ranges::sort(items);
      items.erase(std::unique(items.begin(), items.end()), items.end());
    } else if (std::ranges::adjacent_find(
                   items, std::ranges::greater_equal()) != items.end()) {
      Note(field, "out of order");
    }
  }

  template <RecordField Record>
  void Read(const Field* field, Record& record) {
    Note(field, ReadFields(Nested(field), lists_, &record));
  }

  void ReadItem(const Field* field, int index, std::string& text) const;

  template <RecordField Record>
  void ReadItem(const Field* field, int index, Record& record) {
    Note(field, ReadFields(Item(field, index), lists_, &record));
  }

  const Field* FirstField() const;
  bool Has(const Field* field) const;
  int SizeOf(const Field* field) const;
  int64_t NumberBetween(const Field* field, int64_t least, int64_t most);
  const Message& Nested(const Field* field) const;
  const Message& Item(const Field* field, int index) const;
  // Does nothing if `fault` is "".
  void Note(const Field* field, std::string_view fault);

  const Message& message_;
  const google::protobuf::Reflection& reflection_;
  FieldFinder finder_;
  const ListsAre lists_;
  std::string fault_;
};

template <class Record>
void WriteFields(const Record& record, google::protobuf::Message* message) {
  FieldWriter writer(message);
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
