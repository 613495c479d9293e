#include "constraints/toleration.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/cluster_builder.h"

namespace sluice {
namespace {

TEST(IsTolerated, TakesOneTolerationOfTheList) {
  const Taint taint = NoSchedule("dedicated", "ml");
  EXPECT_FALSE(IsTolerated(taint, {}));
  std::vector<Toleration> tolerations(9,
                                      Tolerates(NoSchedule("dedicated", "db")));
  EXPECT_FALSE(IsTolerated(taint, tolerations));
  tolerations.push_back(Tolerates(taint));
  EXPECT_TRUE(IsTolerated(taint, tolerations));
}

TEST(IsTolerated, ComparesKeyValueAndEffect) {
  const std::vector tolerations = {Tolerates(NoSchedule("dedicated", "ml"))};
  EXPECT_TRUE(IsTolerated(NoSchedule("dedicated", "ml"), tolerations));
  EXPECT_FALSE(IsTolerated(NoSchedule("dedicate", "ml"), tolerations));
  EXPECT_FALSE(IsTolerated(NoSchedule("dedicated", "m"), tolerations));
  EXPECT_FALSE(IsTolerated(NoSchedule("dedicated"), tolerations));
  EXPECT_FALSE(IsTolerated(NoExecute("dedicated", "ml"), tolerations));
}

TEST(IsTolerated, NeedsAnOperatorThatIsKnown) {
  Toleration toleration = Tolerates(NoSchedule("dedicated"));
  toleration.op = TolerationOperator::kUnknown;
  EXPECT_FALSE(IsTolerated(NoSchedule("dedicated"), {{toleration}}));
}

TEST(TaintText, ReadsAsInKubectl) {
  EXPECT_EQ(TaintText(NoSchedule("dedicated", "ml")),
            "dedicated=ml:NoSchedule");
  EXPECT_EQ(TaintText(NoExecute("broken")), "broken:NoExecute");
  EXPECT_EQ(TaintText(PreferNoSchedule("spot")), "spot:PreferNoSchedule");
  EXPECT_EQ(TaintText({"odd", "", TaintEffect::kUnknown}),
            "odd:unknown effect");
}

TEST(TaintText, IsPrintableAndBounded) {
  EXPECT_EQ(TaintText(NoSchedule("\n", "\x80")), "\\n=\\x80:NoSchedule");
  const std::string huge(1 << 20, '\n');
  EXPECT_LT(TaintText(NoSchedule(huge, huge)).size(), 1000u);
}

}  // namespace
}  // namespace sluice
