#include "property/command_generator.h"

#include <utility>

#include "base/strings.h"
#include "property/random_rules.h"

namespace sluice {

CommandGenerator::CommandGenerator(uint64_t seed) : rng_(seed) {
  for (uint64_t uid = 0; uid <= kUidCount; ++uid) {
    names_.push_back(StrCat("task-", uid, "-", 0));
  }
  constexpr std::pair<Kind, int> kWeights[] = {
      {Kind::kSubmit, 12},       {Kind::kSubmitSame, 2},
      {Kind::kSubmitOther, 2},   {Kind::kUpdate, 3},
      {Kind::kComplete, 3},      {Kind::kFail, 2},
      {Kind::kRemove, 8},        {Kind::kAddMachine, 6},
      {Kind::kUpdateMachine, 2}, {Kind::kRemoveMachine, 2},
      {Kind::kAddForeignPod, 2}, {Kind::kRemoveForeignPod, 2},
      {Kind::kReportUsage, 1}};
  for (const auto& [kind, weight] : kWeights) {
    const bool is_needed = kind == Kind::kSubmit || kind == Kind::kAddMachine;
    if (!is_needed && rng_.Chance(1, 4)) continue;
    kinds_.insert(kinds_.end(), static_cast<size_t>(weight), kind);
  }
}

// A pod's, by which it is known under any uid, or one of its own.
std::string CommandGenerator::DrawOtherName(uint64_t uid) {
  if (rng_.Chance(1, 2)) return StrCat("ns/pod-", rng_.Below(8));
  return StrCat("task-", uid, "-", ++generation_);
}

TaskOptions CommandGenerator::DrawTask(uint64_t uid) {
  TaskOptions options;
  options.name = names_[uid];
  options.job = StrCat("job-", rng_.Below(6));
  options.cpu = rng_.Between(0, 8) * 100;
  options.memory = rng_.Between(0, 8) * 100;
  if (rng_.Chance(1, 8)) options.extended = {{"gpu", rng_.Between(1, 2)}};
  if (rng_.Chance(1, 2)) {
    options.rules = DrawRules({"m1", "m2"}, &rng_);
  }
  if (rng_.Chance(1, 4)) {
    options.owner = {"ReplicaSet", StrCat(rng_.Below(2))};
  }
  options.priority = static_cast<uint32_t>(rng_.Below(3));
  if (rng_.Chance(1, 20)) options.quarantine_reason = "drawn so";
  return options;
}

MachineOptions CommandGenerator::DrawMachine(const std::string& uuid) {
  MachineOptions options;
  options.cpu = rng_.Between(0, 20) * 100;
  options.memory = rng_.Between(0, 20) * 100;
  options.pods = rng_.Between(1, 9);
  if (rng_.Chance(1, 4)) options.extended = {{"gpu", rng_.Between(1, 4)}};
  options.labels = DrawLabels(&rng_);
  options.taints = DrawTaints(&rng_);
  if (rng_.Chance(1, 8)) {
    options.avoids = {{"ReplicaSet", StrCat(rng_.Below(2))}};
  }
  for (int64_t i = rng_.Between(0, 2); i > 0; --i) {
    options.pus.push_back({StrCat(uuid, "-pu", i), {{"cpu", options.cpu / i}}});
  }
  if (rng_.Chance(1, 20)) options.quarantine_reason = "drawn so";
  return options;
}

UpdateMachine CommandGenerator::DrawUpdate(const std::string& uuid) {
  UpdateMachine update = Updated(uuid, DrawMachine(uuid));
  if (rng_.Chance(1, 2)) {  // Of labels alone.
    update.spec.allocatable.clear();
    update.spec.capacity.clear();
  }
  return update;
}

std::string CommandGenerator::DrawMachineUuid() {
  return StrCat("m", rng_.Below(kMachineCount));
}

std::string CommandGenerator::DrawPodName() {
  return StrCat("pod-", rng_.Below(8), "/ns");
}

Command CommandGenerator::Next() {
  const uint64_t uid = DrawUid();
  const std::string uuid = DrawMachineUuid();
  switch (kinds_[rng_.Below(kinds_.size())]) {
    case Kind::kSubmit:
    case Kind::kSubmitSame:
      return Submitted(uid, DrawTask(uid));
    case Kind::kSubmitOther:
      names_[uid] = DrawOtherName(uid);
      return Submitted(uid, DrawTask(uid));
    case Kind::kUpdate:
      return Updated(uid, DrawTask(uid));
    case Kind::kComplete:
      return Completed(uid);
    case Kind::kFail:
      return Failed(uid);
    case Kind::kRemove:
      return Removed(uid);
    case Kind::kAddMachine:
      return Added(uuid, DrawMachine(uuid));
    case Kind::kUpdateMachine:
      return DrawUpdate(uuid);
    case Kind::kRemoveMachine:
      return Removed(uuid);
    case Kind::kAddForeignPod:
      return ForeignPod(DrawPodName(), uuid,
                        {{"cpu", rng_.Between(0, 9) * 100},
                         {"memory", rng_.Between(0, 9) * 100}});
    case Kind::kRemoveForeignPod:
      return RemoveForeignPod{DrawPodName(), rng_.Chance(1, 2) ? uuid : ""};
    case Kind::kReportUsage:
      if (rng_.Chance(1, 2)) return ReportTaskUsage{TaskUid{uid}};
      return ReportMachineUsage{uuid};
  }
  return ReportMachineUsage{uuid};
}

}  // namespace sluice
