#include "cli/client/contract.h"

#include <cctype>

#include "base/strings.h"
#include "firmament/firmament_scheduler.pb.h"
#include "glog/logging.h"

namespace sluice {

const google::protobuf::ServiceDescriptor& SchedulerService() {
  const google::protobuf::ServiceDescriptor* service =
      firmament::ScheduleRequest::descriptor()->file()->FindServiceByName(
          "FirmamentScheduler");
  CHECK(service != nullptr);
  return *service;
}

const google::protobuf::MethodDescriptor& SchedulerMethod(
    std::string_view name) {
  const google::protobuf::MethodDescriptor* method =
      SchedulerService().FindMethodByName(std::string(name));
  CHECK(method != nullptr) << name;
  return *method;
}

std::string EventName(const google::protobuf::MethodDescriptor& method) {
  std::string name = method.name();
  name.front() =
      static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
  return name;
}

std::unique_ptr<google::protobuf::Message> MakeMessage(
    const google::protobuf::Descriptor& type) {
  const google::protobuf::Message* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(
          &type);
  CHECK(prototype != nullptr) << type.full_name();
  return std::unique_ptr<google::protobuf::Message>(prototype->New());
}

Answer AnswerOf(const google::protobuf::Message& reply) {
  const google::protobuf::Descriptor& type = *reply.GetDescriptor();
  const google::protobuf::FieldDescriptor* field = type.FindFieldByName("type");
  if (field == nullptr) field = type.FindFieldByName("status");
  if (field == nullptr || field->enum_type() == nullptr) return {.name = "OK"};
  const int number = reply.GetReflection()->GetEnumValue(reply, field);
  // The contract has no reply values for samples.  It reuses those which say
  // that a machine was added or a task has completed.
  const bool is_of_sample =
      &type == firmament::ResourceStatsResponse::descriptor() ||
      &type == firmament::TaskStatsResponse::descriptor();
  if (is_of_sample && number == 0) {
    return {.name = "taken, or dropped as malformed"};
  }
  const google::protobuf::EnumValueDescriptor* value =
      field->enum_type()->FindValueByNumber(number);
  if (value == nullptr) {
    return {.name = StrCat("unknown reply ", number), .is_done = false};
  }
  const std::string& name = value->name();
  return {.name = name,
          .is_done = name.ends_with("_OK") || name == "SERVING" ||
                     name == "NODE_ALREADY_EXISTS"};
}

}  // namespace sluice
