// How texts for people name a task.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_NAMED_TASK_H_
#define SLUICE_CONSTRAINTS_NAMED_TASK_H_

#include <string>

#include "base/strings.h"
#include "constraints/shown_text.h"
#include "sluice/state/task.h"

namespace sluice {

// "17 web-1": its uid and name.  A task of a feed has its id there in place of
// the uid, which is the daemon's own.
inline std::string NamedTask(const Task& task) {
  return StrCat(task.client.IsOfFeed() ? ShownText(task.client.feed_task_id)
                                       : StrCat(task.client.uid.value),
                " ", ShownText(task.name));
}

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_NAMED_TASK_H_
