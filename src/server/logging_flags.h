// The flags of the logging library, glog, which declares them with a library of
// its own, gflags.  The rest of the daemon does not use gflags.
//
// Threads: main, before the library is initialized.

#ifndef SLUICE_SERVER_LOGGING_FLAGS_H_
#define SLUICE_SERVER_LOGGING_FLAGS_H_

#include "base/flag_set.h"

namespace sluice {

// Adds them, in the order of their names.  They take effect as they are
// parsed.  Unless a flag says otherwise, logs go to standard error, and so to
// whoever started the daemon.
void AddLoggingFlags(FlagSet& flags);

}  // namespace sluice

#endif  // SLUICE_SERVER_LOGGING_FLAGS_H_
