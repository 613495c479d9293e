#include "base/id_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/ids.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::Pointee;

using Names = IdMap<TaskId, std::string>;

bool Add(uint64_t id, std::string name, Names* names) {
  return names->Add({id}, std::make_unique<std::string>(std::move(name)));
}

std::vector<std::string> InOrder(const Names& names) {
  std::vector<std::string> all;
  for (const auto& [id, name] : names) all.push_back(*name);
  return all;
}

TEST(IdMap, VisitsInTheOrderOfIdsAndFindsById) {
  Names names;
  EXPECT_TRUE(names.empty());
  for (const auto& [id, name] :
       {std::pair(30, "c"), std::pair(10, "a"), std::pair(20, "b")}) {
    EXPECT_TRUE(Add(static_cast<uint64_t>(id), name, &names));
  }
  EXPECT_THAT(InOrder(names), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names.Find({20}), Pointee(std::string("b")));
  EXPECT_THAT(names.Find({25}), IsNull());
  EXPECT_EQ(names.At({20}), "b");
  EXPECT_TRUE(names.contains({30}));
  EXPECT_EQ(*names.upper_bound({10})->second, "b");
  EXPECT_EQ(*names.upper_bound({15})->second, "b");
  EXPECT_EQ(names.upper_bound({30}), names.end());
  EXPECT_EQ(names.size(), 3u);
}

TEST(IdMap, KeepsTheObjectThatWasAddedFirst) {
  Names names;
  EXPECT_TRUE(Add(1, "first", &names));
  EXPECT_FALSE(Add(1, "second", &names));
  EXPECT_THAT(InOrder(names), ElementsAre("first"));
  EXPECT_THAT(names.Find({1}), Pointee(std::string("first")));
}

TEST(IdMap, VisitsAllOfSomeIdsInTheirOrder) {
  Names names;
  std::vector<TaskId> ids;
  std::vector<std::string> expected;
  for (uint64_t id = 0; id < 100; ++id) {
    if (id % 3 != 0) Add(id, std::to_string(id), &names);
    ids.push_back({99 - id});
    expected.push_back((99 - id) % 3 == 0 ? "" : std::to_string(99 - id));
  }
  for (const size_t count : {size_t{0}, size_t{1}, size_t{12}, ids.size()}) {
    std::vector<std::string> found;
    names.VisitAll(std::span(ids).first(count),
                   [&](TaskId id, const std::string* name) {
                     EXPECT_EQ(id, ids[found.size()]);
                     found.push_back(name == nullptr ? "" : *name);
                   });
    EXPECT_EQ(found, std::vector(expected.begin(),
                                 expected.begin() +
                                     static_cast<std::ptrdiff_t>(count)));
  }
}

TEST(IdMap, GivesObjectsBack) {
  Names names;
  Add(1, "a", &names);
  Add(2, "b", &names);
  EXPECT_THAT(names.Take({1}), Pointee(std::string("a")));
  EXPECT_THAT(names.Take({1}), IsNull());
  EXPECT_THAT(names.Find({1}), IsNull());
  EXPECT_THAT(InOrder(names), ElementsAre("b"));
  EXPECT_TRUE(Add(1, "again", &names));
  EXPECT_THAT(InOrder(names), ElementsAre("again", "b"));
}

}  // namespace
}  // namespace sluice
