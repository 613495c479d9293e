#include "flow/dimacs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "oracle/random_problem.h"
#include "util/same_problem.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadDimacs, ReadsAStandardFile) {
  const absl::StatusOr<FlowProblem> problem = ReadDimacs(
      "c the example of the format's description\n"
      "c\n"
      "cx\n"
      "p min 4 5\n"
      "\n"
      "n 1 4\n"
      "n 4 -4\r\n"
      "a 1 2 0 4 2\n"
      "a 1 3 0 2 2\n"
      "a 2 3\t0 2 1\n"
      "a  2 4 0 3 3 \n"
      "a 3 4 1 5 -1");
  ASSERT_THAT(problem, IsOk());
  FlowProblem expected;
  for (const FlowUnits supply : {4, 0, 0, -4}) expected.AddNode(supply);
  expected.AddArc(0, 1, 4, 2);
  expected.AddArc(0, 2, 2, 2);
  expected.AddArc(1, 2, 2, 1);
  expected.AddArc(1, 3, 3, 3);
  expected.AddArc(2, 3, 5, -1, 1);
  EXPECT_THAT(CheckSameProblem(*problem, expected), IsOk());
}

TEST(ReadDimacs, ReadsWhatTheFormatLacks) {
  const absl::StatusOr<FlowProblem> problem = ReadDimacs(
      "c sluices are gates\n"
      "p min 2 3\n"
      "a 1 2 1 5 -1\n"
      "c between\n"
      "c sluice convex 2 -1 3 4\n"
      "c  sluice  all-or-none\n"
      "a 2 1 0 7 0\n"
      "c sluice gain 2 3\n"
      "a 2 2 0 0 0\n");
  ASSERT_THAT(problem, IsOk());
  EXPECT_THAT(problem->segments(0),
              ElementsAre(CostSegment{2, -1}, CostSegment{3, 4}));
  EXPECT_EQ(problem->arc(0).lower, 1);
  EXPECT_EQ(problem->gain(1), (FlowGain{2, 3}));
  EXPECT_THAT(problem->all_or_none(), ElementsAre(0));
  EXPECT_EQ(problem->gains().size(), 1u);
}

TEST(ReadDimacs, ReadsAProblemWithoutNodes) {
  const absl::StatusOr<FlowProblem> problem = ReadDimacs("p min 0 0");
  ASSERT_THAT(problem, IsOk());
  EXPECT_EQ(problem->node_count(), 0);
}

struct Fault {
  std::string name;
  std::string text;
  std::string message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class DimacsFault : public testing::TestWithParam<Fault> {};

TEST_P(DimacsFault, IsNamed) {
  EXPECT_THAT(ReadDimacs(GetParam().text),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, DimacsFault,
    testing::Values(
        Fault{"Empty", "", "there is no 'p' line"},
        Fault{"UnknownLine", "p min 1 0\nq 1\n",
              "line 2: 'q' begins no line of this format"},
        Fault{"UnknownBytes", std::string("\0\x80", 2),
              R"(line 1: '\x00\x80' begins no line of this format)"},
        Fault{"OtherProblem", "p max 1 0\n",
              "line 1: problem 'max' is not 'min'"},
        Fault{"SecondCounts", "p min 1 0\np min 1 0\n",
              "line 2: a second 'p' line"},
        Fault{"NegativeCount", "p min 1 -3\n", "line 1: count -3 is negative"},
        Fault{"MissingCount", "p min 1\n", "line 1: the arc count is missing"},
        Fault{"SupplyFirst", "c\nn 1 0\n",
              "line 2: there is no 'p' line before this one"},
        Fault{"NodeBeyond", "p min 10 1\nn 12 1\n",
              "line 2: node 12 is beyond the 10 that 'p' declares"},
        Fault{"NodeZero", "p min 10 1\na 1 0 0 1 1\n",
              "line 2: node 0: nodes are counted from 1"},
        Fault{"SecondSupply", "p min 2 0\nn 2 0\nn 2 1\n",
              "line 3: a second supply of node 2"},
        Fault{"ArcFirst", "a 1 2 0 1 1\n",
              "line 1: there is no 'p' line before this one"},
        Fault{"HeadBeyond", "p min 2 1\na 1 3 0 1 1\n",
              "line 2: node 3 is beyond the 2 that 'p' declares"},
        Fault{"ShortArc", "p min 2 1\na 1 2 0 1\n",
              "line 2: the cost is missing"},
        Fault{"LongArc", "p min 2 1\na 1 2 0 1 1 1\n",
              "line 2: '1' follows where the line should end"},
        Fault{"NegativeCapacity", "p min 2 1\na 1 2 0 -1 1\n",
              "line 2: capacity -1 is negative"},
        Fault{"LowerAboveCapacity", "p min 2 1\na 1 2 2 1 1\n",
              "line 2: lower bound 2 is above the capacity 1"},
        Fault{"ArcTooMany", "p min 2 1\na 1 2 0 1 1\na 1 2 0 1 1\n",
              "line 3: an arc beyond the 1 that 'p' declares"},
        Fault{"ArcTooFew", "p min 2 2\na 1 2 0 1 1\n",
              "'p' declares 2 arcs, and there are 1"}),
    [](const auto& instance) { return instance.param.name; });

// About an arc of capacity 3 and cost 5.
Fault ExtensionFault(std::string name, const std::string& line,
                     const std::string& message) {
  return {std::move(name), "p min 2 1\na 1 2 0 3 5\n" + line + "\n",
          "line 3: " + message};
}

INSTANTIATE_TEST_SUITE_P(
    Extensions, DimacsFault,
    testing::Values(
        Fault{"NoArc", "p min 2 0\nc sluice all-or-none\n",
              "line 2: 'c sluice' is about the arc before it: there is none"},
        ExtensionFault("Unknown", "c sluice gate",
                       "'gate' is not convex, gain or all-or-none"),
        ExtensionFault("Nothing", "c sluice",
                       "'' is not convex, gain or all-or-none"),
        ExtensionFault("Trailing", "c sluice all-or-none 1",
                       "'1' follows where the line should end"),
        Fault{"GainTwice",
              "p min 2 1\na 1 2 0 3 5\nc sluice gain 1 1\n"
              "c sluice gain 1 2\n",
              "line 4: a second 'gain' of one arc"},
        Fault{"ConvexTwice",
              "p min 2 1\na 1 2 0 3 5\nc sluice convex 3 5\n"
              "c sluice convex 3 5\n",
              "line 4: a second 'convex' of one arc"},
        Fault{"AllOrNoneTwice",
              "p min 2 1\na 1 2 0 3 5\nc sluice all-or-none\n"
              "c sluice all-or-none\n",
              "line 4: a second 'all-or-none' of one arc"},
        ExtensionFault("NoSegments", "c sluice convex", "the width is missing"),
        ExtensionFault("HalfASegment", "c sluice convex 1 5 2",
                       "the cost is missing"),
        ExtensionFault("NoNumber", "c sluice convex 1 5 2 x",
                       "cost 'x' is not a whole number"),
        ExtensionFault("NoWidth", "c sluice convex 0 5 3 5",
                       "width 0 is not positive"),
        ExtensionFault("TooWide", "c sluice convex 2 5 2 6",
                       "the widths add up to more than the arc's 3"),
        ExtensionFault("TooWideFor64Bits",
                       "c sluice convex 1 5 9223372036854775807 6",
                       "the widths add up to more than the arc's 3"),
        ExtensionFault("TooNarrow", "c sluice convex 1 5 1 6",
                       "the widths add up to less than the arc's 3"),
        ExtensionFault("OtherCost", "c sluice convex 1 4 2 6",
                       "the first cost, 4, is not the arc's, 5"),
        ExtensionFault("FallingCost", "c sluice convex 1 5 1 7 1 6",
                       "cost 6 is below the one before it, 7"),
        ExtensionFault("NoGain", "c sluice gain 0 1",
                       "gain 0/1 is not of two numbers from 1 to 2147483647"),
        ExtensionFault("HugeGain", "c sluice gain 1 2147483648",
                       "gain 1/2147483648 is not of two numbers from 1 to "
                       "2147483647"),
        ExtensionFault("HalfAGain", "c sluice gain 2",
                       "the denominator is missing")),
    [](const auto& instance) { return instance.param.name; });

TEST(ReadDimacs, BoundsTheNodesByWhatThereIsToRead) {
  EXPECT_THAT(ReadDimacs("p min 2000000000 1\n"),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "line 1: 2000000000 nodes are beyond 100019, the limit "
                       "for a text of 19 bytes"));
  EXPECT_THAT(ReadDimacs("p min 100015 0\n"), IsOk());
}

TEST(ReadDimacs, TellsANumberBeyond64Bits) {
  EXPECT_THAT(ReadDimacs("p min 1 0\nn 1 9223372036854775808\n"),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("line 2")));
}

TEST(WriteDimacs, WritesWhatTheHeaderSays) {
  FlowProblem problem;
  for (const FlowUnits supply : {3, 0, -3}) problem.AddNode(supply);
  const ArcIndex removed = problem.AddArc(0, 1, 1, 1);
  const std::vector<CostSegment> ladder = {{1, 4}, {2, 6}};
  problem.SetAllOrNone(problem.AddConvexArc(0, 2, ladder, 1), true);
  problem.SetGain(problem.AddArc(1, 2, 7, -8), {1, 2});
  problem.AddConvexArc(2, 2, {});
  problem.RemoveArc(removed);
  EXPECT_EQ(WriteDimacs(problem),
            "p min 3 3\n"
            "n 1 3\n"
            "n 3 -3\n"
            "a 1 3 1 3 4\n"
            "c sluice convex 1 4 2 6\n"
            "c sluice all-or-none\n"
            "a 2 3 0 7 -8\n"
            "c sluice gain 1 2\n"
            "a 3 3 0 0 0\n");
}

TEST(WritePlainDimacs, MakesAnArcOfEachSegment) {
  FlowProblem problem;
  for (const FlowUnits supply : {3, -3}) problem.AddNode(supply);
  const ArcIndex removed = problem.AddArc(0, 1, 1, 1);
  const std::vector<CostSegment> ladder = {{1, 4}, {2, 6}, {3, 6}};
  problem.AddConvexArc(0, 1, ladder, 2);
  const ArcIndex last = problem.AddArc(1, 0, 7, -8);
  problem.RemoveArc(removed);
  const auto text = WritePlainDimacs(problem);
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text,
            "p min 2 4\n"
            "n 1 3\n"
            "n 2 -3\n"
            "a 1 2 1 1 4\n"
            "a 1 2 1 2 6\n"
            "a 1 2 0 3 6\n"
            "a 2 1 0 7 -8\n");
  problem.SetGain(last, {1, 2});
  EXPECT_THAT(WritePlainDimacs(problem),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("arc 2 has a gain")));
}

// Gives some of the arcs what random problems lack.
void AddExtensions(FlowProblem* problem, Rng* rng) {
  for (ArcIndex arc = 0; arc < problem->arc_count(); ++arc) {
    if (rng->Chance(1, 8)) problem->SetAllOrNone(arc, true);
    if (!rng->Chance(1, 8)) continue;
    problem->SetGain(arc,
                     {.numerator = static_cast<int32_t>(rng->Between(1, 9)),
                      .denominator = static_cast<int32_t>(rng->Between(1, 9))});
  }
}

TEST(WriteDimacs, IsReadBackAsTheSameProblem) {
  for (uint64_t seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = seed % 4 == 0
                              ? MakeRandomCluster(3, 8, 20, &rng)
                              : MakeRandomProblem({.node_count_max = 12,
                                                   .arc_count_max = 30,
                                                   .capacity_max = 9,
                                                   .segment_count_max = 6},
                                                  &rng);
    AddExtensions(&problem, &rng);
    const absl::StatusOr<FlowProblem> read = ReadDimacs(WriteDimacs(problem));
    ASSERT_THAT(read, IsOk());
    ASSERT_THAT(CheckSameProblem(*read, problem), IsOk());
  }
}

TEST(WriteDimacs, LeavesRemovedArcsOut) {
  for (uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem =
        MakeRandomProblem({.node_count_max = 12, .arc_count_max = 30}, &rng);
    AddExtensions(&problem, &rng);
    FlowProblem expected;
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      expected.AddNode(problem.supply(node));
    }
    for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
      if (rng.Chance(1, 3)) {
        problem.RemoveArc(i);
        continue;
      }
      const FlowProblem::Arc& arc = problem.arc(i);
      const ArcIndex copy = expected.AddConvexArc(
          arc.tail, arc.head, problem.segments(i), arc.lower);
      expected.SetGain(copy, problem.gain(i));
      expected.SetAllOrNone(copy, problem.is_all_or_none(i));
    }
    const absl::StatusOr<FlowProblem> read = ReadDimacs(WriteDimacs(problem));
    ASSERT_THAT(read, IsOk());
    ASSERT_THAT(CheckSameProblem(*read, expected), IsOk());
  }
}

}  // namespace
}  // namespace sluice
