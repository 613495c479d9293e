// For sources that speak gRPC.

#include <grpcpp/grpcpp.h>

#include "code.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "sluice/v1/feed.grpc.pb.h"
#include "sluice/v1/inspector.grpc.pb.h"
