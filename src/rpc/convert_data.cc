#include "rpc/convert_data.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/checks.h"
#include "sluice/state/resources.h"

namespace sluice {
namespace {

using firmament::ReferenceDescriptor;

constexpr int kDependenciesMax = 1000;

struct DataObject {
  int64_t bytes = 0;
  std::set<std::string> machines = {};
  std::set<std::string> racks = {};
};

// "m" or "/r/m".
absl::Status AddLocation(std::string_view location, DataObject* object) {
  if (location.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSize("dependencies: location", location, kNameBytesMax));
  if (location.front() != '/') {
    object->machines.emplace(location);
    return absl::OkStatus();
  }
  const size_t end = location.find('/', 1);
  const std::string_view rack =
      location.substr(1, end == std::string_view::npos ? end : end - 1);
  const std::string_view machine =
      end == std::string_view::npos ? "" : location.substr(end + 1);
  if (rack.empty() || machine.empty() ||
      machine.find('/') != std::string_view::npos) {
    return Invalid(
        StrCat("dependencies: location '", location, "' is not /RACK/MACHINE"));
  }
  object->racks.emplace(rack);
  object->machines.emplace(machine);
  return absl::OkStatus();
}

TaskData::Places PlacesOf(const std::map<std::string, int64_t>& amounts) {
  TaskData::Places places;
  for (const auto& [name, bytes] : amounts) {
    if (bytes > 0) places.emplace_back(name, bytes);
  }
  return places;
}

}  // namespace

absl::StatusOr<TaskData> ToTaskData(const firmament::TaskDescriptor& task) {
  if (task.dependencies_size() > kDependenciesMax) {
    return Invalid(StrCat("dependencies: ", task.dependencies_size(),
                          " of them, at most ", kDependenciesMax,
                          " are allowed"));
  }
  std::map<std::string, DataObject> objects;
  for (const ReferenceDescriptor& one : task.dependencies()) {
    if (one.type() != ReferenceDescriptor::CONCRETE &&
        one.type() != ReferenceDescriptor::STREAM) {
      continue;
    }
    if (one.size() > static_cast<uint64_t>(kAmountMax) / kDependenciesMax) {
      return Invalid(StrCat("dependencies: size: more than ",
                            kAmountMax / kDependenciesMax));
    }
    DataObject& object = objects[one.id()];
    if (object.bytes == 0) object.bytes = static_cast<int64_t>(one.size());
    RETURN_IF_ERROR(AddLocation(one.location(), &object));
  }
  TaskData data;
  std::map<std::string, int64_t> on_machines;
  std::map<std::string, int64_t> in_racks;
  for (const auto& [id, object] : objects) {
    data.bytes += object.bytes;
    for (const std::string& name : object.machines) {
      on_machines[name] += object.bytes;
    }
    for (const std::string& name : object.racks) in_racks[name] += object.bytes;
  }
  data.on_machines = PlacesOf(on_machines);
  data.in_racks = PlacesOf(in_racks);
  return data;
}

}  // namespace sluice
