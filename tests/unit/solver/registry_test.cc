#include "solver/registry.h"

#include <gtest/gtest.h>

#include <memory>

namespace sluice {
namespace {

TEST(SolverRegistry, MakesEachSolverUnderItsName) {
  ASSERT_FALSE(Solvers().empty());
  for (const SolverEntry& entry : Solvers()) {
    const std::unique_ptr<Solver> solver = MakeSolver(entry.name);
    ASSERT_NE(solver, nullptr) << entry.name;
    EXPECT_EQ(solver->name(), entry.name);
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
  }
}

TEST(SolverRegistry, KnowsNoOtherName) {
  EXPECT_EQ(MakeSolver("no_such_solver"), nullptr);
  EXPECT_EQ(MakeSolver(""), nullptr);
}

}  // namespace
}  // namespace sluice
