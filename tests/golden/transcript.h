// Runs the commands of a transcript, one line each, on a scheduler of its own.
//
//   add-machine m1 cpu=4000 memory=8Gi pods=10 pu=m1-pu capacity-cpu=4500
//   update-machine m1 cpu=2000          remove-machine m1
//   add-machine m2 labels=disk=ssd,zone=a taints=gpu=a:NoSchedule,b:NoExecute
//   submit 1 job=a name=x cpu=500 memory=1Gi gpu=1 priority=2
//   submit 2 selector=disk=ssd tolerates=gpu=a:NoSchedule,b:NoExecute@30
//   update 1 cpu=200    complete 1    fail 1    remove 1
//   foreign-pod p machine=m1 cpu=300    remove-foreign-pod p
//   advance 90                 seconds pass
//   round                      a whole round
//   start-round  pass  commit  the same in steps: a pass is solved, committed
//   reply  deliver  abandon    a Schedule call begins, has arrived, is lost
//   tasks  machines  classes   what the state says; classes of waiting tasks
//   explain 1                  why a task waits
//
// cpu is in millicores, memory in bytes (Ki, Mi, Gi); what is not a known key
// is an extended resource.  A machine has 110 pods unless it says otherwise.
// What follows a toleration's @ are its seconds.  NoExecute taints evict.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_TESTS_GOLDEN_TRANSCRIPT_H_
#define SLUICE_TESTS_GOLDEN_TRANSCRIPT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/flow/problem.h"
#include "util/test_scheduler.h"

namespace sluice {

class Transcript {
 public:
  // Returns what the command says: no line, or lines that end in '\n'.
  std::string Execute(std::string_view line);

 private:
  // A command line: words, and what follows as key=value.
  struct Line {
    std::vector<std::string> words;
    std::map<std::string, std::string> values;
  };
  static Line Parse(std::string_view line);

  std::string Event(const Line& line);
  std::string Apply(const Command& command);
  std::string EndRound(bool is_stepwise);
  std::string Pass();
  std::string Reply();
  std::string Tasks() const;
  std::string Machines() const;
  std::string Classes() const;
  std::string Explain(uint64_t uid) const;
  std::string AmountsText(const Resources& resources) const;

  TestScheduler cluster_{{.evicts_on_no_execute = true}};
  int64_t now_ms_ = 0;
  FlowSolution solution_;  // Of the open pass.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_GOLDEN_TRANSCRIPT_H_
