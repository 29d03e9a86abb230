// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/services.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

DistributedSystemDescription MakeTest(const std::string& more = "") {
  return base::FromText<DistributedSystemDescription>(
      R"(services { name: "client" count: 2 x_size: 2 }
         services { name: "root" count: 1 x_size: 1 }
         services { name: "leaf" count: 2 x_size: 2 }
         rpc_descriptions { name: "inner" client: "root" server: "leaf" }
         rpc_descriptions { name: "ask" client: "client" server: "root" }
         action_lists { name: "client" action_names: ["ask", "nested"] }
         action_lists { name: "ask" action_names: "inner" }
         action_lists { name: "inner" }
         actions {
           name: "ask" rpc_name: "ask"
           iterations { open_loop_interval_ns: 10000000 }
         }
         actions { name: "inner" rpc_name: "inner" }
         actions { name: "nested" action_list_name: "more" }
         action_lists { name: "more" action_names: "again" }
         actions {
           name: "again" rpc_name: "ask"
           iterations { open_loop_interval_ns: 1000 }
         }
)" + more);
}

TEST(RootRpcsTest, AreThoseThatMainListsSend) {
  EXPECT_THAT(RootRpcs(MakeTest()), ElementsAre("ask"));
  // Nested lists are part of the list; handlers are not.
  EXPECT_THAT(RootRpcs(MakeTest("action_lists { name: 'more2' "
                                "action_names: 'inner' }")),
              ElementsAre("ask"));
  DistributedSystemDescription test = MakeTest();
  test.mutable_action_lists(3)->add_action_names("inner");
  EXPECT_THAT(RootRpcs(test), ElementsAre("inner", "ask"));
}

TEST(RootRpcsTest, EndsForAListThatContainsItself) {
  DistributedSystemDescription test = MakeTest();
  test.mutable_action_lists(3)->add_action_names("nested");
  EXPECT_THAT(RootRpcs(test), ElementsAre("ask"));
}

TEST(SubjectRpcTest, IsTheNamedOneOrTheOnlyRoot) {
  EXPECT_EQ(SubjectRpc(MakeTest()), "ask");
  EXPECT_EQ(SubjectRpc(MakeTest("experiment { subject { rpc: 'inner' } }")),
            "inner");
  DistributedSystemDescription test = MakeTest();
  test.mutable_action_lists(3)->add_action_names("inner");
  EXPECT_EQ(SubjectRpc(test), "");
}

TEST(OpenLoopRateTest, AddsUpInstancesOfMainListsOnly) {
  EXPECT_DOUBLE_EQ(OpenLoopRate(MakeTest(), "ask"), 200);
  EXPECT_DOUBLE_EQ(OpenLoopRate(MakeTest(), "inner"), 0);
}

TEST(ServicesBesideTest, TheMostParticularPlaceCounts) {
  Antagonist antagonist;
  EXPECT_THAT(ServicesBeside(MakeTest(), antagonist), ElementsAre("root"));
  const DistributedSystemDescription test =
      MakeTest("experiment { subject { services: ['leaf', 'r*'] } }");
  EXPECT_THAT(ServicesBeside(test, antagonist), ElementsAre("root", "leaf"));
  antagonist.add_placed_with("c?ient");
  EXPECT_THAT(ServicesBeside(test, antagonist), ElementsAre("client"));
  antagonist.set_placed_with(0, "nobody");
  EXPECT_THAT(ServicesBeside(test, antagonist), IsEmpty());
}

TEST(NodesOfInstancesTest, BundledOnesFirstAndTheRestInOrder) {
  const DistributedSystemDescription test = MakeTest(
      "node_service_bundles { key: 'node1' value { services: 'leaf/0' } }"
      "node_service_bundles { key: 'node2' value {} }");
  EXPECT_THAT(NodesOfInstances(test),
              ElementsAre(Pair("client/0", "node0"), Pair("client/1", "node2"),
                          Pair("leaf/0", "node1"), Pair("leaf/1", "node4"),
                          Pair("root/0", "node3")));
}

}  // namespace
}  // namespace distbench::protection
