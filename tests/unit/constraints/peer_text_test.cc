#include "constraints/peer_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "util/peer_builder.h"

namespace sluice {
namespace {

TaskSelector InNamespacesWith(std::vector<LabelRequirement> labels,
                              TaskSelector tasks) {
  tasks.namespace_labels = std::move(labels);
  return tasks;
}

TEST(PeerText, SaysWhichTasksAreMeant) {
  const TaskSelector no_labels = TasksWith({});
  const struct {
    TaskSelector tasks;
    std::string text;
  } rows[] = {
      {{}, "no task, as there is no selector"},
      {TasksWith({}), "any task of namespace ns"},
      {TasksWith({LabelIn("app", {"web"})}, {""}), "app=web"},
      {TasksWith({LabelIn("app", {"web"}), LabelDoesNotExist("old")}),
       "app=web and !old of namespace ns"},
      {TasksWith({LabelInvalid("app", "operator 'Near' is unknown")}),
       "app (operator 'Near' is unknown) of namespace ns"},
      {TasksWith({}, {"a", "b"}), "any task of namespace a,b"},
      {TasksWith({}, {"", "a"}), "any task of namespace a"},
      {TasksWith({}, {"a", "b", "c", "d"}), "any task of namespace a,b,c,..."},
      {InNamespacesWith({}, no_labels), "any task of any namespace"},
      {InNamespacesWith({LabelExists("team")}, no_labels),
       "any task of namespace ns or namespaces with team"},
      {InNamespacesWith({LabelExists("team")}, TasksWith({}, {})),
       "any task of namespaces with team"},
      {TasksOfJob("web-*"), "job web-*"},
      {TasksOfJob("a\nb"), "job a\\nb"},
  };
  for (const auto& row : rows) EXPECT_EQ(SelectorText(row.tasks), row.text);
}

TEST(PeerText, SaysWhatIsNear) {
  const std::vector<TaskSelector> one = {App("web")};
  EXPECT_EQ(PeersText(one, "zone"), "app=web of namespace ns in the same zone");
  EXPECT_EQ(PeersText(one, ""), "app=web of namespace ns on the same machine");
  const std::vector<TaskSelector> many = {TasksOfJob("a"), TasksOfJob("b"),
                                          TasksOfJob("c"), TasksOfJob("d")};
  EXPECT_EQ(PeersText(many, ""),
            "job a and job b and job c and ... on the same "
            "machine");
}

TEST(PeerText, SaysHowTasksAreSpread) {
  SpreadConstraint spread = Spread(App("web"), "zone", 2);
  EXPECT_EQ(SpreadText(spread),
            "app=web of namespace ns over zone with maxSkew 2");
  spread.min_domains = 3;
  spread.is_required = false;
  spread.term.topology_key.clear();
  EXPECT_EQ(SpreadText(spread),
            "app=web of namespace ns over machines with maxSkew 2 and "
            "minDomains 3 if possible");
  spread.min_domains = SpreadConstraint::kFromEmpty;
  EXPECT_EQ(SpreadText(spread),
            "at most 2 of app=web of namespace ns in each machine");
  spread.term.topology_key = "zone";
  EXPECT_EQ(SpreadText(spread),
            "at most 2 of app=web of namespace ns in each zone");
  EXPECT_EQ(MinimumText({spread.term, 3}),
            "at least 3 of app=web of namespace ns in each zone");
  spread.term.topology_key = "*";
  EXPECT_EQ(SpreadText(spread), "at most 2 of app=web of namespace ns in all");
  EXPECT_EQ(PeersText({&spread.term.tasks, 1}, "*"),
            "app=web of namespace ns anywhere");
}

TEST(PeerText, IsBounded) {
  const std::string long_text(1000, 'x');
  TaskSelector tasks = TasksWith({}, {});
  for (int i = 0; i < 100; ++i) {
    tasks.labels->push_back(LabelIn(StrCat(long_text, i), {long_text}));
    tasks.namespaces.push_back(StrCat(long_text, i));
  }
  EXPECT_LT(SelectorText(tasks).size(), 2000U);
  EXPECT_LT(PeersText(std::vector(100, tasks), long_text).size(), 5000U);
}

}  // namespace
}  // namespace sluice
