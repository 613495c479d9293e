#include "state/resource_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/strings.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

constexpr ResourceIndex kFirst = kBuiltinResourceCount;

TEST(ResourceNames, DealIndicesInTheOrderOfTheFirstUses) {
  ResourceNames names;
  EXPECT_EQ(names.size(), kFirst);
  EXPECT_EQ(names.NameOf(kMemory), "memory");
  const Resources amounts = *names.FromNamed({{"b", 2}, {"a", 1}, {"cpu", 3}});
  EXPECT_EQ(names.size(), kFirst + 2);
  EXPECT_EQ(names.NameOf(kFirst), "b");
  EXPECT_EQ(amounts[kFirst], 2);
  EXPECT_EQ(amounts[kFirst + 1], 1);
  EXPECT_EQ(amounts[kCpu], 3);
}

TEST(ResourceNames, DoNotKnowWhatThereIsNothingOf) {
  ResourceNames names;
  EXPECT_EQ(*names.FromNamed({{"a", 0}}), Resources());
  EXPECT_EQ(names.size(), kFirst);
}

TEST(ResourceNames, FindWhatHasAName) {
  ResourceNames names;
  EXPECT_EQ(names.Find("a"), kNoResource);
  EXPECT_EQ(names.Find("pods"), kPods);
  const Resources amounts = *names.FromNamed({{"b", 2}, {"a", 1}});
  EXPECT_EQ(names.Find("a"), kFirst + 1);
  EXPECT_EQ(amounts[names.Find("a")], 1);
  EXPECT_EQ(amounts[kNoResource], 0);
  names.FreeUnused();
  EXPECT_EQ(names.Find("a"), kNoResource);
}

TEST(ResourceNames, FreeWhatIsNotUsedAndUseItsIndexAgain) {
  ResourceNames names;
  const Resources a = *names.FromNamed({{"a", 1}});
  const Resources b = *names.FromNamed({{"b", 1}});
  const Resources c = *names.FromNamed({{"c", 1}});
  for (const Resources* amounts : {&a, &b, &b, &c}) names.Acquire(*amounts);
  names.Release(a);
  names.Release(b);
  EXPECT_EQ(names.NameOf(kFirst), "a") << "until the command is over";
  names.FreeUnused();
  EXPECT_EQ(names.NameOf(kFirst), "");
  EXPECT_EQ(names.NameOf(kFirst + 1), "b") << "used a second time";
  EXPECT_EQ(names.size(), kFirst + 3);
  const uint64_t former = names.IdOf(kFirst + 2);
  names.Release(c);
  names.FreeUnused();
  EXPECT_EQ(names.size(), kFirst + 2);
  EXPECT_EQ(*names.FromNamed({{"d", 5}}), *names.FromNamed({{"d", 5}}));
  EXPECT_EQ(names.NameOf(kFirst), "d");
  EXPECT_EQ(*names.FromNamed({{"c", 1}}), c);
  EXPECT_NE(names.IdOf(kFirst + 2), former);
}

TEST(ResourceNames, ForgetWhatWasNamedAndNotKept) {
  ResourceNames names;
  ASSERT_THAT(names.FromNamed({{"a", 1}}), IsOk());
  names.FreeUnused();
  EXPECT_EQ(names.size(), kFirst);
}

TEST(ResourceNames, AreNotEmpty) {
  ResourceNames names;
  EXPECT_THAT(names.FromNamed({{"", 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_EQ(names.size(), kFirst);
}

TEST(ResourceNames, AreBounded) {
  ResourceNames names;
  for (size_t i = 0; i < kExtendedResourceNamesMax; ++i) {
    const absl::StatusOr<Resources> amounts =
        names.FromNamed({{StrCat("x/", i), 1}});
    ASSERT_THAT(amounts, IsOk());
    names.Acquire(*amounts);
  }
  EXPECT_THAT(names.FromNamed({{"y", 1}}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("'y'")));
  names.Release(*names.FromNamed({{"x/3", 1}}));
  names.FreeUnused();
  EXPECT_EQ((*names.FromNamed({{"y", 1}}))[kFirst + 3], 1);
}

TEST(ResourceNames, ComeBackAtTheirIndices) {
  ResourceNames names;
  for (const char* name : {"a", "", "c", "d", ""}) {
    ASSERT_THAT(names.Append(name), IsOk());
  }
  EXPECT_THAT(names.Append("c"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("stored twice")));
  const Resources c = *names.FromNamed({{"c", 1}});
  EXPECT_EQ(c[kFirst + 2], 1);
  names.Acquire(c);
  names.FreeUnused();
  EXPECT_EQ(names.size(), kFirst + 3) << "nothing has the others";
  EXPECT_EQ(names.NameOf(kFirst), "");
}

}  // namespace
}  // namespace sluice
