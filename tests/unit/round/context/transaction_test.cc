#include "round/context/transaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;

// Tasks 1 and 2 run on "m", and task 3 waits.
class TransactionTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Apply(Added("m", {.cpu = 200}));
    cluster_.Apply(Added("n", {.cpu = 200}));
    for (uint64_t uid = 1; uid <= 3; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 100}));
    }
    for (uint64_t uid : {2, 1}) {
      cluster_.mutable_state().Place({uid}, Id("m"), 0);
    }
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  MachineId Id(std::string_view uuid) {
    return cluster_.state().FindMachine(uuid)->id;
  }
  // In the order in which clients are told.
  std::vector<uint64_t> Placed() {
    std::vector<uint64_t> uids;
    for (const auto& [sequence, delta] : cluster_.state().outbox()) {
      uids.push_back(delta.task.value);
    }
    return uids;
  }
  void WithdrawAll(Transaction* transaction) {
    transaction->Withdraw(UndoablePlacements(cluster_.state(), 0, 0));
  }
  TestScheduler cluster_;
};

TEST_F(TransactionTest, UndoesWhatIsNotKept) {
  {
    Transaction transaction(0, &cluster_.mutable_state());
    WithdrawAll(&transaction);
    EXPECT_THAT(Placed(), ElementsAre());
    transaction.Place(cluster_.TaskOf(3), Id("m"));
    transaction.Place(cluster_.TaskOf(1), Id("m"));
  }
  EXPECT_THAT(Placed(), ElementsAre(2, 1));
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(TransactionTest, UndoesItsLastSteps) {
  Transaction transaction(0, &cluster_.mutable_state());
  WithdrawAll(&transaction);
  transaction.Place(cluster_.TaskOf(1), Id("n"));
  const size_t size = transaction.size();
  transaction.Place(cluster_.TaskOf(2), Id("n"));
  transaction.RollBackTo(size);
  EXPECT_THAT(Placed(), ElementsAre(1));
  EXPECT_EQ(cluster_.MachineOf(1), "n");
}

TEST_F(TransactionTest, TellsWhatItMadeOfWhatWaitedAndWhatDidNot) {
  Transaction transaction(0, &cluster_.mutable_state());
  WithdrawAll(&transaction);
  transaction.Place(cluster_.TaskOf(3), Id("m"));
  transaction.Place(cluster_.TaskOf(2), Id("n"));
  const Transaction::Outcome outcome = transaction.Keep();
  EXPECT_THAT(outcome.placed, ElementsAre(TaskId{3}));
  EXPECT_EQ(outcome.given_up, 1);
  transaction.RollBackTo(0);
  EXPECT_THAT(Placed(), ElementsAre(3, 2));
}

}  // namespace
}  // namespace sluice
