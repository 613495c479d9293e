// What every constraint promises (sluice/constraints/constraint.h), tried on
// each one that is registered.

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "contract/worlds.h"
#include "sluice/constraints/constraint.h"

namespace sluice {

#define CONSTRAINT(name, aspect, summary) \
  std::unique_ptr<Constraint> MakeConstraint_##name();
#include "constraints/constraints.def"
#undef CONSTRAINT

namespace {

struct Entry {
  std::string name;
  std::string summary;
  std::unique_ptr<Constraint> (*make)();
};

std::ostream& operator<<(std::ostream& out, const Entry& entry) {
  return out << entry.name;
}

std::vector<Entry> AllConstraints() {
  return {
#define CONSTRAINT(name, aspect, summary) \
  {#name, summary, &MakeConstraint_##name},
#include "constraints/constraints.def"
#undef CONSTRAINT
  };
}

class ConstraintContract : public testing::TestWithParam<Entry> {
 protected:
  std::vector<Reason> Explain(const ClassKey& key,
                              const Machine& machine) const {
    std::vector<Reason> reasons;
    constraint_->Explain(key, machine, WorldResourceName, &reasons);
    return reasons;
  }
  const std::vector<Machine> machines_ = DrawMachines(/*seed=*/1, 400);
  const Classes drawn_ = DrawClasses(/*seed=*/2, 100);
  const std::vector<ClassKey>& classes_ = drawn_.keys;
  const std::unique_ptr<Constraint> constraint_ = GetParam().make();
};

TEST_P(ConstraintContract, ForbidsExactlyWhereItHasAReason) {
  int allowed = 0;
  int forbidden = 0;
  for (const Machine& machine : machines_) {
    for (const ClassKey& key : classes_) {
      const bool allows = constraint_->Allows(key, machine);
      EXPECT_EQ(allows, Explain(key, machine).empty())
          << "machine " << machine.id << ", pods " << key.request[kPods];
      ++(allows ? allowed : forbidden);
    }
  }
  EXPECT_GT(allowed, 100) << "the worlds do not try it";
  EXPECT_GT(forbidden, 100) << "the worlds do not try it";
}

TEST_P(ConstraintContract, AllowsAllMachinesWhereItIsNotConcerned) {
  for (const ClassKey& key : classes_) {
    if (constraint_->Concerns(key)) continue;
    for (const Machine& machine : machines_) {
      EXPECT_TRUE(constraint_->Allows(key, machine))
          << "machine " << machine.id << ", pods " << key.request[kPods];
    }
  }
}

TEST_P(ConstraintContract, FillsInEveryPartOfAReason) {
  for (const Machine& machine : machines_) {
    for (const ClassKey& key : classes_) {
      for (const Reason& reason : Explain(key, machine)) {
        EXPECT_NE(reason.code, "");
        EXPECT_EQ(reason.code.find(' '), std::string::npos) << reason.code;
        EXPECT_NE(reason.text, "");
        EXPECT_EQ(reason.lacks.rfind("lacks ", 0), 0u) << reason.lacks;
      }
    }
  }
}

TEST_P(ConstraintContract, GivesTheSameAnswerTwiceAndFromAnotherInstance) {
  const std::unique_ptr<Constraint> other = GetParam().make();
  for (const Machine& machine : machines_) {
    for (const ClassKey& key : classes_) {
      const bool allows = constraint_->Allows(key, machine);
      EXPECT_EQ(constraint_->Allows(key, machine), allows);
      EXPECT_EQ(other->Allows(key, machine), allows);
    }
  }
}

TEST_P(ConstraintContract, SaysWhatItIsFor) {
  EXPECT_NE(GetParam().summary, "");
}

INSTANTIATE_TEST_SUITE_P(Registry, ConstraintContract,
                         testing::ValuesIn(AllConstraints()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace sluice
