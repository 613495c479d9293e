// Random commands for a small cluster: few uids, names and machines, so that
// they meet often.  Each seed leaves some kinds of commands out, so that what
// one kind would hide shows without it.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_COMMAND_GENERATOR_H_
#define SLUICE_TESTS_PROPERTY_COMMAND_GENERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "state/command.h"
#include "util/cluster_builder.h"

namespace sluice {

class CommandGenerator {
 public:
  explicit CommandGenerator(uint64_t seed);
  Command Next();

 private:
  enum class Kind {
    kSubmit,
    kSubmitSame,   // As before, by a client that restarted.
    kSubmitOther,  // Another task under a uid in use.
    kUpdate,
    kComplete,
    kFail,
    kRemove,
    kAddMachine,
    kUpdateMachine,
    kRemoveMachine,
    kAddForeignPod,
    kRemoveForeignPod,
    kReportUsage,
  };
  TaskOptions DrawTask(uint64_t uid);
  std::string DrawOtherName(uint64_t uid);
  MachineOptions DrawMachine(const std::string& uuid);
  UpdateMachine DrawUpdate(const std::string& uuid);
  uint64_t DrawUid() { return 1 + rng_.Below(kUidCount); }
  std::string DrawMachineUuid();
  std::string DrawPodName();

  static constexpr uint64_t kUidCount = 48;
  static constexpr uint64_t kMachineCount = 7;

  Rng rng_;
  std::vector<Kind> kinds_;  // Those in use, as often as they are likely.
  std::vector<std::string> names_;  // Of the task of each uid.
  int generation_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_COMMAND_GENERATOR_H_
