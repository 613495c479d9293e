// For tests without gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "code.h"
