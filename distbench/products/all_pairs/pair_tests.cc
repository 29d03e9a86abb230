// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/all_pairs/pair_tests.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/all_pairs/pairs.h"

namespace distbench::all_pairs {
namespace {

constexpr absl::Duration kWarmup = absl::Seconds(1);
constexpr char kRpc[] = "pair";

void AddPayload(const char* name, int64_t size,
                DistributedSystemDescription& test) {
  PayloadSpec& payload = *test.add_payload_descriptions();
  payload.set_name(name);
  payload.set_size(size);
}

// Without a schedule.
DistributedSystemDescription MakeTest(const PairOptions& options,
                                      const char* kind,
                                      const char* fanout_filter) {
  DistributedSystemDescription test;
  test.set_name(absl::StrCat("all_pairs_", kind));
  (*test.mutable_attributes())[kTestAttribute] = kind;
  test.set_default_protocol(options.protocol);
  ServiceSpec& service = *test.add_services();
  service.set_name("node");
  service.set_count(options.node_count);
  AddPayload("request", options.request_size, test);
  AddPayload("response", options.response_size, test);
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name(kRpc);
  rpc.add_client("node");
  rpc.set_server("node");
  rpc.set_request_payload_name("request");
  rpc.set_response_payload_name("response");
  rpc.set_fanout_filter(fanout_filter);
  rpc.set_deadline_us(absl::ToInt64Microseconds(kPairDeadline));
  test.add_action_lists()->set_name(kRpc);
  ActionList& main = *test.add_action_lists();
  main.set_name("node");
  main.add_action_names("call_others");
  Action& action = *test.add_actions();
  action.set_name("call_others");
  action.set_rpc_name(kRpc);
  return test;
}

// Open loop, so many iterations per second.
void SetSchedule(const PairOptions& options, double per_second,
                 const char* distribution, DistributedSystemDescription& test) {
  Iterations& iterations = *test.mutable_actions(0)->mutable_iterations();
  iterations.set_open_loop_interval_ns(
      std::max<int64_t>(1, std::llround(1e9 / per_second)));
  iterations.set_open_loop_interval_distribution(distribution);
  iterations.set_warmup_ns(absl::ToInt64Nanoseconds(kWarmup));
  iterations.set_max_duration_us(
      absl::ToInt64Microseconds(options.duration + kWarmup));
}

}  // namespace

absl::StatusOr<TestSequence> MakePairTests(const PairOptions& options) {
  if (options.node_count < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("pairs need two nodes or more, and there ",
                     options.node_count == 1 ? "is one" : "are none",
                     "; start node managers, or let the sequencer have "
                     "--local_nodes"));
  }
  const double others = options.node_count - 1;
  const double of_pair =
      std::min(options.rate_per_second, kMostPerNode / others);
  TestSequence tests;
  DistributedSystemDescription& steady = *tests.add_tests();
  steady = MakeTest(options, "steady", "round_robin");
  SetSchedule(options, of_pair * others, "exponential", steady);
  DistributedSystemDescription& burst = *tests.add_tests();
  burst = MakeTest(options, "burst", "all");
  SetSchedule(options, of_pair, "sync_burst", burst);
  return config::CheckTestSequence(std::move(tests));
}

}  // namespace distbench::all_pairs
