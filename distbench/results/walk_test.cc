// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/walk.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::testing::ElementsAre;

TEST(WalkTest, VisitsLogsInOrderOfNames) {
  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  auto& instances = *result.mutable_service_logs()->mutable_instance_logs();
  for (const char* client : {"c/2", "c/10", "c/1"}) {
    ServicePerformanceLog& log = instances[client];
    log.mutable_error_dictionary()->add_error_message(client);
    for (const char* server : {"s/1", "s/0"}) {
      auto& rpcs = *(*log.mutable_peer_logs())[server].mutable_rpc_logs();
      rpcs[7].mutable_statistics()->set_succeeded_count(70);
      rpcs[0].mutable_statistics()->set_succeeded_count(1);
    }
  }
  std::vector<std::string> visits;
  ForEachRpcLog(result, [&](const RpcLogView& view) {
    EXPECT_EQ(view.errors.error_message(0), view.client);
    visits.push_back(absl::StrCat(view.client, " ", view.server, " ",
                                  view.rpc_name, " ",
                                  view.log.statistics().succeeded_count()));
  });
  EXPECT_THAT(
      visits,
      ElementsAre("c/1 s/0 query 1", "c/1 s/0 rpc[7] 70", "c/1 s/1 query 1",
                  "c/1 s/1 rpc[7] 70", "c/10 s/0 query 1", "c/10 s/0 rpc[7] 70",
                  "c/10 s/1 query 1", "c/10 s/1 rpc[7] 70", "c/2 s/0 query 1",
                  "c/2 s/0 rpc[7] 70", "c/2 s/1 query 1", "c/2 s/1 rpc[7] 70"));
}

TEST(WalkTest, ReplayTracesComeBehindRpcs) {
  TestResult result;
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.add_rpc_descriptions()->set_name("query");
  config.add_rpc_replay_traces()->set_name("first");
  config.add_rpc_replay_traces()->set_name("second");
  EXPECT_EQ(RpcName(result, 0), "query");
  EXPECT_EQ(RpcName(result, 1), "first");
  EXPECT_EQ(RpcName(result, 2), "second");
  EXPECT_EQ(RpcName(result, 3), "rpc[3]");
  EXPECT_EQ(RpcName(result, -1), "rpc[-1]");
  // Of the lowest number, no count must be subtracted within 32 bits.
  constexpr int kLowest = std::numeric_limits<int>::min();
  EXPECT_EQ(RpcName(result, kLowest), "rpc[-2147483648]");
}

// In results of older versions, replays are among the RPCs.
TEST(WalkTest, VisitsReplaysAfterRpcsWhereverTheyAre) {
  TestResult result;
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.add_rpc_descriptions()->set_name("query");
  config.add_rpc_replay_traces()->set_name("trace");
  auto& instances = *result.mutable_service_logs()->mutable_instance_logs();
  PeerPerformanceLog& now = (*instances["now/0"].mutable_peer_logs())["s/0"];
  (*now.mutable_rpc_logs())[0];
  (*now.mutable_replay_logs())[1];
  PeerPerformanceLog& old = (*instances["old/0"].mutable_peer_logs())["s/0"];
  (*old.mutable_rpc_logs())[0];
  (*old.mutable_rpc_logs())[1];
  std::vector<std::string> visits;
  ForEachRpcLog(result, [&visits](const RpcLogView& view) {
    visits.push_back(absl::StrCat(view.client, " ", view.rpc_name));
  });
  EXPECT_THAT(visits, ElementsAre("now/0 query", "now/0 trace", "old/0 query",
                                  "old/0 trace"));
}

TEST(WalkTest, NamesErrors) {
  ErrorDictionary errors;
  errors.add_error_message("");
  errors.add_error_message("connection refused");
  EXPECT_EQ(ErrorMessage(errors, 1), "connection refused");
  EXPECT_EQ(ErrorMessage(errors, 0), "cause not recorded");
  EXPECT_EQ(ErrorMessage(errors, 2),
            "error 2, which is missing from the error dictionary");
  EXPECT_EQ(ErrorMessage(errors, -1),
            "error -1, which is missing from the error dictionary");
}

}  // namespace
}  // namespace distbench::results
