#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

const std::vector<std::string> kNames = {"inject", "status", "tasks", "job",
                                         "explain"};

TEST(NearestName, ForgivesASlipOfTheFingers) {
  for (const char* typed :
       {"statsu", "statu", "sttaus", "statuss", "stztus", "status", "Status"}) {
    EXPECT_EQ(NearestName(typed, kNames), "status") << typed;
  }
  EXPECT_EQ(NearestName("task", kNames), "tasks");
  EXPECT_EQ(NearestName("jbo", kNames), "job");
  EXPECT_EQ(NearestName("jo", kNames), "job");
}

TEST(NearestName, CompletesABeginning) {
  EXPECT_EQ(NearestName("exp", kNames), "explain");
  EXPECT_EQ(NearestName("in", kNames), "");
}

TEST(NearestName, GuessesNothingFromAfar) {
  for (const char* typed : {"", "x", "xy", "submit", "deploy", "ststsss"}) {
    EXPECT_EQ(NearestName(typed, kNames), "") << typed;
  }
  EXPECT_EQ(NearestName(std::string(1'000'000, 's'), kNames), "");
  EXPECT_EQ(NearestName("status", {}), "");
}

TEST(DidYouMean, AsksOrSaysNothing) {
  EXPECT_EQ(DidYouMean("statsu", kNames), "; did you mean 'status'?");
  EXPECT_EQ(DidYouMean("deploy", kNames), "");
}

}  // namespace
}  // namespace sluice
