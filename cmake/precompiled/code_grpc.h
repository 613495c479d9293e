// For sources that speak gRPC.  The stubs stay out: every source would instantiate
// what they declare, and few use them.

#include <grpcpp/grpcpp.h>

#include "code.h"
#include "firmament/firmament_scheduler.pb.h"
#include "sluice/v1/feed.pb.h"
#include "sluice/v1/inspector.pb.h"
