#include "state/task_selector.h"

#include <gtest/gtest.h>

#include "util/rules_builder.h"

namespace sluice {
namespace {

using Requirements = std::vector<LabelRequirement>;

TaskIdentity Web() {
  return {.task_namespace = "shop",
          .labels = {{"app", "web"}, {"tier", "front"}},
          .namespace_labels = {{"env", "test"}},
          .job = "web-7"};
}

// Any task of any namespace.
TaskSelector Any() {
  return {.labels = Requirements(), .namespace_labels = Requirements()};
}

TEST(Selects, NoTaskWithoutLabelsAndAnyWithEmptyOnes) {
  TaskSelector selector = Any();
  EXPECT_TRUE(Selects(selector, Web()));
  EXPECT_TRUE(Selects(selector, TaskIdentity()));
  selector.labels.reset();
  EXPECT_FALSE(Selects(selector, Web()));
  EXPECT_FALSE(Selects(TaskSelector(), TaskIdentity()));
}

TEST(Selects, WhereAllRequirementsHoldOfTheLabels) {
  const auto selects = [](Requirements labels) {
    TaskSelector selector = Any();
    selector.labels = std::move(labels);
    return Selects(selector, Web());
  };
  EXPECT_TRUE(selects({LabelIn("app", {"db", "web"})}));
  EXPECT_TRUE(selects({LabelIn("app", {"web"}), LabelExists("tier")}));
  EXPECT_TRUE(selects({LabelNotIn("missing", {"web"})}));
  EXPECT_FALSE(selects({LabelIn("app", {"web"}), LabelExists("missing")}));
  EXPECT_FALSE(selects({LabelExists("env")}));
  EXPECT_FALSE(selects({LabelInvalid("app", "no sense")}));
}

TEST(Selects, InTheNamespacesThatEitherWayMeans) {
  const auto selects = [](std::vector<std::string> namespaces,
                          std::optional<Requirements> namespace_labels) {
    return Selects({.labels = Requirements(),
                    .namespaces = std::move(namespaces),
                    .namespace_labels = std::move(namespace_labels)},
                   Web());
  };
  EXPECT_TRUE(selects({"bank", "shop"}, {}));
  EXPECT_FALSE(selects({"bank", "sho", "shop2"}, {}));
  EXPECT_FALSE(selects({}, {}));
  EXPECT_TRUE(selects({}, Requirements()));
  EXPECT_TRUE(selects({}, Requirements{LabelIn("env", {"test"})}));
  EXPECT_FALSE(selects({}, Requirements{LabelIn("env", {"live"})}));
  EXPECT_FALSE(selects({}, Requirements{LabelExists("app")}));
  EXPECT_TRUE(selects({"shop"}, Requirements{LabelIn("env", {"live"})}));
  EXPECT_TRUE(selects({"bank"}, Requirements{LabelIn("env", {"test"})}));
}

TEST(Selects, ByTheNameThatEveryNamespaceHasAsALabel) {
  const std::string key = "kubernetes.io/metadata.name";
  TaskSelector selector = Any();
  selector.namespace_labels = {LabelIn(key, {"shop"})};
  EXPECT_TRUE(Selects(selector, Web()));
  selector.namespace_labels = {LabelNotIn(key, {"shop"})};
  EXPECT_FALSE(Selects(selector, Web()));
}

TEST(Selects, ByTheNameOfTheJob) {
  TaskSelector selector = Any();
  selector.job = "web-*";
  EXPECT_TRUE(Selects(selector, Web()));
  selector.job = "web";
  EXPECT_FALSE(Selects(selector, Web()));
  selector.job = "*";
  EXPECT_TRUE(Selects(selector, TaskIdentity()));
}

TEST(SelectsAll, WhereEveryOneSelects) {
  TaskSelector other = Any();
  other.job = "db-*";
  EXPECT_TRUE(SelectsAll({}, Web()));
  EXPECT_TRUE(SelectsAll({Any(), Any()}, Web()));
  EXPECT_FALSE(SelectsAll({Any(), other}, Web()));
}

}  // namespace
}  // namespace sluice
