// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/instance_names.h"

#include <cstdint>
#include <limits>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

ServiceSpec Service(int x, int y = 0, int z = 0) {
  ServiceSpec service;
  service.set_name("s");
  service.set_x_size(x);
  if (y > 0) service.set_y_size(y);
  if (z > 0) service.set_z_size(z);
  return service;
}

TEST(InstanceNames, FollowTheSizesThatAreSet) {
  EXPECT_THAT(InstanceNames(Service(3)), ElementsAre("s/0", "s/1", "s/2"));
  EXPECT_THAT(InstanceNames(Service(2, 2)),
              ElementsAre("s/0/0", "s/1/0", "s/0/1", "s/1/1"));
  EXPECT_THAT(InstanceNames(Service(1, 2, 2)),
              ElementsAre("s/0/0/0", "s/0/1/0", "s/0/0/1", "s/0/1/1"));
  EXPECT_THAT(InstanceNames(Service(2, 1)), ElementsAre("s/0/0", "s/1/0"));
}

TEST(InstanceNames, AreUndoneByParsing) {
  for (const ServiceSpec& service :
       {Service(7), Service(2, 5), Service(3, 4, 5), Service(1, 1, 1)}) {
    const Grid grid = GridOf(service);
    for (int number = 0; number < grid.Count(); ++number) {
      const auto parsed =
          ParseInstanceName(InstanceName(service.name(), grid, number));
      ASSERT_TRUE(parsed.has_value());
      EXPECT_EQ(parsed->service, "s");
      EXPECT_EQ(InstanceNumber(grid, parsed->coordinates), number);
    }
  }
}

TEST(ParseInstanceName, RefusesOtherForms) {
  for (const char* name :
       {"", "s", "s/", "/0", "s/00", "s/01", "s/-1", "s/+1", "s/ 1", "s/1 ",
        "s/x", "s/0/", "s/0/0/0/0", "s/99999999999", "s//0"}) {
    EXPECT_EQ(ParseInstanceName(name).has_value(), false) << name;
  }
}

TEST(InstanceNumber, RefusesWhatIsNotInTheGrid) {
  const Grid grid = GridOf(Service(2, 3));
  EXPECT_EQ(InstanceNumber(grid, {1, 2}), 5);
  EXPECT_EQ(InstanceNumber(grid, {2, 0}), std::nullopt);
  EXPECT_EQ(InstanceNumber(grid, {0, 3}), std::nullopt);
  EXPECT_EQ(InstanceNumber(grid, {0}), std::nullopt);
  EXPECT_EQ(InstanceNumber(grid, {0, 0, 0}), std::nullopt);
}

TEST(InstanceAttributes, AreNamedByTheDimensions) {
  EXPECT_THAT(InstanceAttributes(GridOf(Service(9)), 7),
              ElementsAre(Pair("index", "7")));
  EXPECT_THAT(InstanceAttributes(GridOf(Service(2, 3)), 5),
              ElementsAre(Pair("x_index", "1"), Pair("y_index", "2")));
  EXPECT_THAT(InstanceAttributes(GridOf(Service(2, 3, 2)), 7), SizeIs(3));
  EXPECT_THAT(InstanceAttributeNames(GridOf(Service(2, 3, 2))),
              ElementsAre("x_index", "y_index", "z_index"));
}

TEST(GridOf, TakesBadSizesForOne) { EXPECT_EQ(GridOf(Service(-3)).Count(), 1); }

TEST(Grid, CountDoesNotOverflow) {
  constexpr int kMax = std::numeric_limits<int>::max();
  const Grid grid = GridOf(Service(kMax, kMax, kMax));
  EXPECT_EQ(grid.Count(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(InstanceNumber(grid, {kMax - 1, kMax - 1, kMax - 1}), std::nullopt);
}

TEST(MembersOf, UnitesSelectedAndConstrainedInstances) {
  const Grid grid = {.sizes = {6, 1, 1}, .dimensions = 1};
  EXPECT_THAT(MembersOf(base::FromText<MultiServerChannel>(
                            "selected_instances: [4, 1]"),
                        grid),
              ElementsAre(1, 4));
  EXPECT_THAT(MembersOf(base::FromText<MultiServerChannel>(R"(
      selected_instances: [4, 1, 9, -1]
      constraints {
        constraint_sets {
          constraints {
            attribute_name: 'index' relation: MODULO_EQUAL modulus: 3
            int64_values: 0
          }
        }
      })"),
                        grid),
              ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(MembersOf(base::FromText<MultiServerChannel>(""), grid),
              IsEmpty());
}

TEST(MembersOf, MayDependOnAttributesOfNodes) {
  const Grid grid = {.sizes = {3, 1, 1}, .dimensions = 1};
  const MultiServerChannel channel = base::FromText<MultiServerChannel>(R"(
      selected_instances: 2
      constraints {
        constraint_sets {
          constraints {
            attribute_name: 'rack' relation: EQUAL string_values: 'a'
          }
        }
      })");
  EXPECT_TRUE(DependsOnPlacement(channel, grid));
  EXPECT_THAT(MembersOf(channel, {{{"rack", "a"}}, {{"rack", "b"}}, {}}),
              ElementsAre(0, 2));
  EXPECT_THAT(MembersOf(channel, grid), ElementsAre(2));
  EXPECT_FALSE(DependsOnPlacement(
      base::FromText<MultiServerChannel>("selected_instances: 1"), grid));
}

TEST(MembersOf, EmptyConstraintsHoldForAll) {
  const Grid grid = {.sizes = {2, 2, 1}, .dimensions = 2};
  EXPECT_THAT(
      MembersOf(base::FromText<MultiServerChannel>("constraints {}"), grid),
      ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(MembersOf(base::FromText<MultiServerChannel>(R"(
      constraints {
        constraint_sets {
          constraints {
            attribute_name: 'y_index' relation: EQUAL int64_values: 1
          }
        }
      })"),
                        grid),
              ElementsAre(2, 3));
}

TEST(OutsideAddresses, AreThoseOfAServiceThatNothingRuns) {
  const auto outside = base::FromText<ServiceSpec>(
      "name: 'cache' count: 1 external { addresses: [ 'a:1', 'b:2' ] }");
  EXPECT_TRUE(IsOutside(outside));
  EXPECT_THAT(InstanceNames(outside), IsEmpty());
  EXPECT_THAT(OutsideAddresses(outside), ElementsAre("a:1", "b:2"));
  EXPECT_FALSE(IsOutside(Service(3)));
  EXPECT_THAT(OutsideAddresses(Service(3)), IsEmpty());
}

}  // namespace
}  // namespace distbench::config
