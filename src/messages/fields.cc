#include "messages/fields.h"

#include <glog/logging.h>

#include "google/protobuf/descriptor.h"

namespace sluice {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const FieldDescriptor* FieldOf(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  CHECK(field != nullptr) << message.GetTypeName() << " has no " << name;
  return field;
}

const Reflection& ReflectionOf(const Message& message) {
  return *message.GetReflection();
}

}  // namespace

// ---------------------------------------------------------------------------
// FieldWriter

void FieldWriter::operator()(const char* name, const std::string& text) const {
  ReflectionOf(message_).SetString(&message_, FieldOf(message_, name), text);
}

void FieldWriter::operator()(const char* name,
                             const std::vector<std::string>& texts) const {
  const FieldDescriptor* field = FieldOf(message_, name);
  for (const std::string& text : texts) {
    ReflectionOf(message_).AddString(&message_, field, text);
  }
}

const char* FieldWriter::FirstField(const Message& message) {
  return message.GetDescriptor()->field(0)->name().c_str();
}

void FieldWriter::SetNumber(const char* name, int64_t number) const {
  const FieldDescriptor* field = FieldOf(message_, name);
  const Reflection& reflection = ReflectionOf(message_);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    reflection.SetBool(&message_, field, number != 0);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    reflection.SetEnumValue(&message_, field, static_cast<int>(number));
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection.SetInt32(&message_, field, static_cast<int32_t>(number));
  } else {
    reflection.SetInt64(&message_, field, number);
  }
}

Message* FieldWriter::Nested(const char* name) const {
  return ReflectionOf(message_).MutableMessage(&message_,
                                               FieldOf(message_, name));
}

Message* FieldWriter::Added(const char* name) const {
  return ReflectionOf(message_).AddMessage(&message_, FieldOf(message_, name));
}

// ---------------------------------------------------------------------------
// FieldReader

void FieldReader::operator()(const char* name, std::string& text) const {
  text = ReflectionOf(message_).GetString(message_, FieldOf(message_, name));
}

bool FieldReader::Has(const char* name) const {
  return ReflectionOf(message_).HasField(message_, FieldOf(message_, name));
}

int FieldReader::SizeOf(const char* name) const {
  return ReflectionOf(message_).FieldSize(message_, FieldOf(message_, name));
}

int64_t FieldReader::NumberBetween(const char* name, int64_t least,
                                   int64_t most) {
  const FieldDescriptor* field = FieldOf(message_, name);
  const Reflection& reflection = ReflectionOf(message_);
  int64_t number = 0;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    number = reflection.GetBool(message_, field) ? 1 : 0;
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    number = reflection.GetEnumValue(message_, field);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    number = reflection.GetInt32(message_, field);
  } else {
    number = reflection.GetInt64(message_, field);
  }
  if (number >= least && number <= most) return number;
  Note(name, StrCat(number, " is not in ", least, " to ", most));
  return least;
}

const Message& FieldReader::Nested(const char* name) const {
  return ReflectionOf(message_).GetMessage(message_, FieldOf(message_, name));
}

const Message& FieldReader::Item(const char* name, int index) const {
  return ReflectionOf(message_).GetRepeatedMessage(
      message_, FieldOf(message_, name), index);
}

void FieldReader::Read(const char* name, int index, std::string& text) const {
  text = ReflectionOf(message_).GetRepeatedString(
      message_, FieldOf(message_, name), index);
}

}  // namespace sluice
