#include "distbench/products/blame/handler_actions.h"

#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

HandlerActions ActionsOf(const std::string& config) {
  DistributedSystemDescription parsed;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(rpc_descriptions { name: "one" fanout_filter: "stochastic{1:4}" }
         rpc_descriptions {
           name: "some" fanout_filter: "stochastic{0.7:1,0.3:4}"
         }
         action_lists { name: "outer" action_names: "first" action_names: "b" }
         action_lists { name: "inner" action_names: "c" })" +
          config,
      &parsed));
  return HandlerActions(parsed);
}

TEST(HandlerActionsTest, WhatChanceOrTimeDecideVaries) {
  for (const std::string action :
       {R"(rpc_name: "some")", R"(rpc_name: "one" predicates: "hit")",
        R"(rpc_name: "one" iterations { max_duration_us: 5 })",
        R"(rpc_name: "one" iterations {
             max_iteration_count: 3 max_duration: "1s"
           })"}) {
    const HandlerActions actions =
        ActionsOf("actions { name: 'b' " + action + " }");
    EXPECT_TRUE(actions.Varies(0, 1)) << action;
    EXPECT_FALSE(actions.Varies(0, 0)) << action;
    EXPECT_FALSE(actions.Varies(1, 0)) << action;
  }
}

TEST(HandlerActionsTest, AFixedNumberDoesNotVary) {
  for (const std::string action :
       {R"(rpc_name: "one")",
        R"(rpc_name: "one" iterations { max_iteration_count: 3 })"}) {
    EXPECT_FALSE(ActionsOf("actions { name: 'b' " + action + " }").Varies(0, 1))
        << action;
  }
}

TEST(HandlerActionsTest, WhatAVaryingActionStartsVaries) {
  const std::string inner = R"(actions { name: "c" rpc_name: "one" })";
  EXPECT_FALSE(
      ActionsOf(inner + R"(actions { name: "b" action_list_name: "inner" })")
          .Varies(1, 0));
  EXPECT_TRUE(ActionsOf(inner + R"(actions {
                          name: "b" action_list_name: "inner" predicates: "hit"
                        })")
                  .Varies(1, 0));
}

TEST(HandlerActionsTest, ListsMayStartEachOther) {
  const HandlerActions actions = ActionsOf(
      R"(actions { name: "b" action_list_name: "inner" predicates: "hit" }
         actions { name: "c" action_list_name: "outer" })");
  EXPECT_TRUE(actions.Varies(0, 1));
  EXPECT_TRUE(actions.Varies(1, 0));
}

TEST(HandlerActionsTest, PositionsThatDoNotExistDoNotVary) {
  EXPECT_FALSE(ActionsOf("").Varies(7, -1));
}

TEST(HandlerActionsTest, HandlersMayAnswerEarly) {
  const HandlerActions actions = ActionsOf(
      R"(actions { name: "c" rpc_name: "one" send_response_when_done: true })");
  EXPECT_TRUE(actions.AnswersEarly("inner"));
  EXPECT_FALSE(actions.AnswersEarly("outer"));
}

}  // namespace
}  // namespace distbench::blame
