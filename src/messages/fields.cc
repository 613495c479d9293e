#include "messages/fields.h"

#include <glog/logging.h>

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "google/protobuf/descriptor.h"

namespace sluice {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool HasUnknownFields(const Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  return std::ranges::any_of(fields, [&](const FieldDescriptor* field) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return false;
    if (!field->is_repeated()) {
      return HasUnknownFields(reflection.GetMessage(message, field));
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (HasUnknownFields(reflection.GetRepeatedMessage(message, field, i))) {
        return true;
      }
    }
    return false;
  });
}

// ---------------------------------------------------------------------------
// FieldFinder

FieldFinder::FieldFinder(const Message& message)
    : descriptor_(*message.GetDescriptor()) {}

const FieldDescriptor* FieldFinder::Find(std::string_view name) {
  if (next_ < descriptor_.field_count() &&
      descriptor_.field(next_)->name() == name) {
    return descriptor_.field(next_++);
  }
  const FieldDescriptor* field = descriptor_.FindFieldByName(std::string(name));
  CHECK(field != nullptr) << descriptor_.full_name() << " has no " << name;
  next_ = field->index() + 1;
  return field;
}

// ---------------------------------------------------------------------------
// FieldWriter

FieldWriter::FieldWriter(Message* message)
    : message_(*message),
      reflection_(*message->GetReflection()),
      finder_(*message) {}

void FieldWriter::Write(const Field* field, const std::string& text) const {
  reflection_.SetString(&message_, field, text);
}

void FieldWriter::Write(const Field* field,
                        const std::vector<std::string>& texts) const {
  for (const std::string& text : texts) {
    reflection_.AddString(&message_, field, text);
  }
}

const FieldDescriptor* FieldWriter::FirstField(const Message& message) {
  return message.GetDescriptor()->field(0);
}

void FieldWriter::WriteNumber(const Field* field, int64_t number) const {
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    reflection_.SetBool(&message_, field, number != 0);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    reflection_.SetEnumValue(&message_, field, static_cast<int>(number));
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection_.SetInt32(&message_, field, static_cast<int32_t>(number));
  } else {
    reflection_.SetInt64(&message_, field, number);
  }
}

Message* FieldWriter::Nested(const Field* field) const {
  return reflection_.MutableMessage(&message_, field);
}

Message* FieldWriter::Added(const Field* field) const {
  return reflection_.AddMessage(&message_, field);
}

// ---------------------------------------------------------------------------
// FieldReader

FieldReader::FieldReader(const Message& message, ListsAre lists)
    : message_(message),
      reflection_(*message.GetReflection()),
      finder_(message),
      lists_(lists) {}

void FieldReader::Read(const Field* field, std::string& text) const {
  text = reflection_.GetStringReference(message_, field, &text);
}

void FieldReader::ReadItem(const Field* field, int index,
                           std::string& text) const {
  text = reflection_.GetRepeatedStringReference(message_, field, index, &text);
}

const FieldDescriptor* FieldReader::FirstField() const {
  return message_.GetDescriptor()->field(0);
}

bool FieldReader::Has(const Field* field) const {
  return reflection_.HasField(message_, field);
}

int FieldReader::SizeOf(const Field* field) const {
  return reflection_.FieldSize(message_, field);
}

int64_t FieldReader::NumberBetween(const Field* field, int64_t least,
                                   int64_t most) {
  int64_t number = 0;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    number = reflection_.GetBool(message_, field) ? 1 : 0;
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    number = reflection_.GetEnumValue(message_, field);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    number = reflection_.GetInt32(message_, field);
  } else {
    number = reflection_.GetInt64(message_, field);
  }
  if (number >= least && number <= most) return number;
  Note(field, StrCat(number, " is not in ", least, " to ", most));
  return least;
}

const Message& FieldReader::Nested(const Field* field) const {
  return reflection_.GetMessage(message_, field);
}

const Message& FieldReader::Item(const Field* field, int index) const {
  return reflection_.GetRepeatedMessage(message_, field, index);
}

void FieldReader::Note(const Field* field, std::string_view fault) {
  if (fault_.empty() && !fault.empty()) {
    fault_ = StrCat(field->name(), ": ", fault);
  }
}

}  // namespace sluice
