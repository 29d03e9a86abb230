#include "distbench/config/syntax/multi_server_channels.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace distbench::config
