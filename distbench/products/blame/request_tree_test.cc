// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/request_tree.h"

#include <map>
#include <string>
#include <utility>

#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::SizeIs;

constexpr int kRequests = 20;
constexpr int kCallsPerRequest = 12;

class RequestTreeTest : public testing::Test {
 protected:
  RequestTreeTest()
      : simulated_(Simulate({.requests = kRequests})),
        result_(ResultOf(simulated_)) {}

  // The samples of an RPC between two instances.
  auto& Samples(const std::string& client, const std::string& server, int rpc) {
    auto& logs = *result_.mutable_service_logs()->mutable_instance_logs();
    return *(*(*logs.at(client).mutable_peer_logs())
                  .at(server)
                  .mutable_rpc_logs())
                .at(rpc)
                .mutable_successful_rpc_samples();
  }

  TracedRequests Collect() {
    const TracedTest test = CollectRequests(result_);
    EXPECT_THAT(test.requests, SizeIs(1));
    return test.requests.front();
  }

  // Describes the lists to which the traces refer by position, but for their
  // actions: "ask" is the root's, "look" the middle instances'.
  void SetActions(const std::string& actions) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(rpc_descriptions { name: "query" }
           rpc_descriptions { name: "rank" }
           rpc_descriptions { name: "lookup" }
           action_lists { name: "client" action_names: "send" }
           action_lists { name: "query" action_names: "ask" }
           action_lists { name: "rank" action_names: "look" })" +
            actions,
        result_.mutable_traffic_config()));
  }

  // Leaves out the only target of the first request's query, with all that
  // belongs to it.
  void LoseTheRpcsOfAQuery() {
    Samples("root/0", "middle/0", kRank).DeleteSubrange(0, 1);
    for (int leaf = 0; leaf < 10; ++leaf) {
      Samples("middle/0", "leaf/" + std::to_string(leaf), kLookup)
          .DeleteSubrange(0, 1);
    }
  }

  const TracedRequests simulated_;
  TestResult result_;
};

std::map<std::string, int64_t> TimesByName(const TracedRequests& requests,
                                           const RequestTree& tree) {
  std::map<std::string, int64_t> times;
  for (const auto& [key, time_ns] : TimesOnPath(tree)) {
    times[requests.rpcs[key.first] + "." +
          std::string(kPartNames[static_cast<int>(key.second)])] = time_ns;
  }
  for (const PathStep& step : CriticalPath(tree)) {
    const Call& call = tree.calls[step.call];
    times[requests.rpcs[call.rpc] + "@" + requests.instances[call.server]] =
        step.own_ns;
  }
  return times;
}

TEST_F(RequestTreeTest, TreesAreAsTheRequestsWere) {
  const TracedRequests requests = Collect();
  EXPECT_EQ(requests.rpcs.front(), "query");
  EXPECT_EQ(requests.reported.succeeded_count(), kRequests);
  EXPECT_EQ(requests.reported.call_count(), kRequests * kCallsPerRequest);
  EXPECT_EQ(requests.reported.moved_call_count(), 0);
  EXPECT_EQ(requests.reported.latency(), "service_time");
  ASSERT_THAT(requests.trees, SizeIs(kRequests));
  // All of them start at the same time, so they are in order of the trace.
  for (int i = 0; i < kRequests; ++i) {
    EXPECT_EQ(requests.trees[i].total_ns(), simulated_.trees[i].total_ns());
    EXPECT_EQ(TimesByName(requests, requests.trees[i]),
              TimesByName(simulated_, simulated_.trees[i]));
  }
}

TEST_F(RequestTreeTest, AClockThatIsOffChangesNothingOnThePath) {
  for (const int64_t skew_ns : {-5'000'000'000, 5'000'000'000}) {
    result_ = ResultOf(simulated_, skew_ns);
    const TracedRequests requests = Collect();
    EXPECT_EQ(requests.reported.moved_call_count(), kRequests * 10);
    for (int i = 0; i < kRequests; ++i) {
      EXPECT_EQ(TimesByName(requests, requests.trees[i]),
                TimesByName(simulated_, simulated_.trees[i]));
      for (const Call& call : requests.trees[i].calls) {
        if (call.parent < 0) continue;
        const Call& parent = requests.trees[i].calls[call.parent];
        EXPECT_GE(call.start_ns, parent.start_ns);
        EXPECT_LE(call.end_ns, parent.end_ns);
      }
    }
  }
}

TEST_F(RequestTreeTest, WhatIsLongerThanItsParentIsCutOff) {
  RpcSample& sample = *Samples("middle/0", "leaf/4", kLookup).Mutable(0);
  sample.set_latency_ns(3'000'000'000);
  const RequestTree tree = Collect().trees[0];
  for (const Call& call : tree.calls) {
    EXPECT_GE(call.start_ns, 0);
    EXPECT_LE(call.end_ns, tree.calls.front().end_ns);
  }
}

TEST_F(RequestTreeTest, RequestsThatLackAnRpcAreIncomplete) {
  // The last target, which leaves no gap in the numbers.
  Samples("middle/0", "leaf/9", kLookup).DeleteSubrange(0, 1);
  // One between others.
  Samples("middle/1", "leaf/2", kLookup).DeleteSubrange(0, 1);
  const TracedRequests requests = Collect();
  EXPECT_EQ(requests.reported.incomplete_count(), 2);
  EXPECT_THAT(requests.trees, SizeIs(kRequests - 2));
}

TEST_F(RequestTreeTest, RequestsThatLackAllOfAHandlerAreIncomplete) {
  LoseTheRpcsOfAQuery();
  EXPECT_EQ(Collect().reported.incomplete_count(), 1);
}

TEST_F(RequestTreeTest, WhatIsLeftToChanceIsNotMissing) {
  LoseTheRpcsOfAQuery();
  SetActions(R"(actions { name: "ask" rpc_name: "rank" }
                actions { name: "look" rpc_name: "lookup" predicates: "p" })");
  EXPECT_EQ(Collect().reported.incomplete_count(), 1);
  SetActions(R"(actions { name: "ask" rpc_name: "rank" predicates: "p" }
                actions { name: "look" rpc_name: "lookup" })");
  EXPECT_EQ(Collect().reported.incomplete_count(), 0);
}

TEST_F(RequestTreeTest, OtherRequestsAreCountedByWhatIsWrongWithThem) {
  auto& samples = Samples("client/0", "root/0", kQuery);
  samples.Mutable(0)->set_warmup(true);
  samples.Mutable(1)->set_latency_ns(-1);
  samples.Mutable(2)->set_latency_ns(200'000'000'000'000);
  samples.DeleteSubrange(3, 1);
  auto& log = (*(*(*result_.mutable_service_logs()->mutable_instance_logs())
                      .at("client/0")
                      .mutable_peer_logs())
                    .at("root/0")
                    .mutable_rpc_logs())
                  .at(kQuery);
  *log.add_failed_rpc_samples() = samples.Get(3);
  samples.DeleteSubrange(3, 1);
  log.mutable_statistics()->set_dropped_sample_count(5);

  const TracedTest test = CollectRequests(result_);
  EXPECT_EQ(test.rootless_count, 1);
  EXPECT_EQ(test.dropped_sample_count, 5);
  ASSERT_THAT(test.requests, SizeIs(1));
  const TracedRequests& requests = test.requests.front();
  EXPECT_EQ(requests.reported.warmup_count(), 1);
  EXPECT_EQ(requests.reported.damaged_count(), 2);
  EXPECT_EQ(requests.reported.failed_count(), 1);
  EXPECT_THAT(requests.trees, SizeIs(kRequests - 5));
}

TEST_F(RequestTreeTest, AHandlerThatAnswersEarlyDoesNotWaitForTheRest) {
  SetActions(R"(actions {
                  name: "look" rpc_name: "lookup" send_response_when_done: true
                })");
  // Ends after its parent.
  Samples("middle/0", "leaf/4", kLookup).Mutable(0)->set_latency_ns(90'000'000);
  const TracedRequests requests = Collect();
  EXPECT_EQ(requests.reported.moved_call_count(), 0);
  EXPECT_THAT(requests.trees[0].calls, SizeIs(kCallsPerRequest - 1));
  EXPECT_THAT(requests.trees[1].calls, SizeIs(kCallsPerRequest));
}

TEST_F(RequestTreeTest, LatenessIsPartOfAnOpenLoop) {
  Samples("client/0", "root/0", kQuery).Mutable(0)->set_lateness_ns(500);
  const TracedRequests requests = Collect();
  EXPECT_EQ(requests.reported.latency(), "response_time");
  EXPECT_EQ(requests.trees[0].total_ns(), simulated_.trees[0].total_ns() + 500);
}

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
    EXPECT_TRUE(actions.varying.count({0, 1}) > 0) << action;
    EXPECT_FALSE(actions.varying.count({0, 0}) > 0) << action;
    EXPECT_FALSE(actions.varying.count({1, 0}) > 0) << action;
  }
}

TEST(HandlerActionsTest, AFixedNumberDoesNotVary) {
  for (const std::string action :
       {R"(rpc_name: "one")",
        R"(rpc_name: "one" iterations { max_iteration_count: 3 })"}) {
    EXPECT_FALSE(ActionsOf("actions { name: 'b' " + action + " }")
                     .varying.count({0, 1}) > 0)
        << action;
  }
}

TEST(HandlerActionsTest, WhatAVaryingActionStartsVaries) {
  const std::string inner = R"(actions { name: "c" rpc_name: "one" })";
  EXPECT_FALSE(
      ActionsOf(inner + R"(actions { name: "b" action_list_name: "inner" })")
          .varying.count({1, 0}) > 0);
  EXPECT_TRUE(ActionsOf(inner + R"(actions {
                          name: "b" action_list_name: "inner" predicates: "hit"
                        })")
                  .varying.count({1, 0}) > 0);
}

TEST(HandlerActionsTest, ListsMayStartEachOther) {
  const HandlerActions actions = ActionsOf(
      R"(actions { name: "b" action_list_name: "inner" predicates: "hit" }
         actions { name: "c" action_list_name: "outer" })");
  EXPECT_TRUE(actions.varying.count({0, 1}) > 0);
  EXPECT_TRUE(actions.varying.count({1, 0}) > 0);
}

TEST(HandlerActionsTest, PositionsThatDoNotExistDoNotVary) {
  EXPECT_FALSE(ActionsOf("").varying.count({7, -1}) > 0);
}

TEST(HandlerActionsTest, HandlersMayAnswerEarly) {
  const HandlerActions actions = ActionsOf(
      R"(actions { name: "c" rpc_name: "one" send_response_when_done: true })");
  EXPECT_TRUE(actions.answering_early.count("inner") > 0);
  EXPECT_FALSE(actions.answering_early.count("outer") > 0);
}

}  // namespace
}  // namespace distbench::blame
