// The room that a machine has beyond what the tasks to come need, once all that
// are to leave have left.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_SLACK_H_
#define SLUICE_ROUND_PLANS_SLACK_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "round/packing/running_tasks.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/peer_table.h"

namespace sluice {

class Slack {
 public:
  // `newcomers` must be apart from some of the leavers.  They and others need
  // `needed` of `room`.  What is passed must outlive this.
  Slack(const PeerTable& peers, const std::vector<const Task*>& newcomers,
        Resources needed, Resources room)
      : peers_(peers),
        newcomers_(newcomers),
        needed_(std::move(needed)),
        room_(std::move(room)) {}

  // Lets a leaver stay.  Returns false if it must leave.  Room alone forces it
  // to leave only if it may be needed.
  bool LetStay(const ClassKey& key, bool may_be_needed) {
    Resources without = room_ - key.request;
    if (may_be_needed && !needed_.FitsIn(without)) return false;
    if (std::ranges::any_of(newcomers_, [&](const Task* task) {
          return task->class_key.priority > key.priority &&
                 AreApart(task->class_key, key, peers_);
        })) {
      return false;
    }
    room_ = std::move(without);
    return true;
  }

 private:
  const PeerTable& peers_;
  const std::vector<const Task*>& newcomers_;
  Resources needed_;
  Resources room_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_SLACK_H_
