// For tests that speak gRPC.

#include "code_grpc.h"
#include "tests.h"
