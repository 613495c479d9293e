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

// What its client calls it: its uid, or for a task of a feed its id there,
// since the uid of such a task is the daemon's own.  Not safe to show.
inline std::string IdAtClient(const Task& task) {
  return task.client.IsOfFeed() ? task.client.feed_task_id
                                : StrCat(task.client.uid.value);
}

// "17 web-1": that id and its name.
inline std::string NamedTask(const Task& task) {
  return StrCat(ShownText(IdAtClient(task)), " ", ShownText(task.name));
}

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_NAMED_TASK_H_
