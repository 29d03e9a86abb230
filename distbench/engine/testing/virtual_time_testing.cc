// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/testing/virtual_time_testing.h"

#include "absl/strings/str_cat.h"
#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::engine {

RpcStatistics StatisticsOf(const ServiceLogs& logs, const std::string& client,
                           const std::string& server, int rpc_index) {
  const auto log = logs.instance_logs().find(client);
  if (log == logs.instance_logs().end()) return {};
  const auto peer = log->second.peer_logs().find(server);
  if (peer == log->second.peer_logs().end()) return {};
  for (const auto* rpcs :
       {&peer->second.rpc_logs(), &peer->second.replay_logs()}) {
    const auto rpc = rpcs->find(rpc_index);
    if (rpc != rpcs->end()) return rpc->second.statistics();
  }
  return {};
}

const RpcPerformanceLog& LogOf(const ServiceLogs& logs,
                               const std::string& client,
                               const std::string& server, int rpc_index) {
  return logs.instance_logs().at(client).peer_logs().at(server).rpc_logs().at(
      rpc_index);
}

DistributedSystemDescription PolicyTest(absl::string_view policy,
                                        absl::string_view iterations,
                                        int servers, absl::string_view rpc) {
  DistributedSystemDescription test = ParseTest(ClientServer(
      absl::StrCat("iterations { ",
                   iterations.empty() ? "max_iteration_count: 1" : iterations,
                   " }"),
      "random_seed: 1", servers));
  CHECK(google::protobuf::TextFormat::MergeFromString(
      absl::StrCat("policy { ", policy, " } ", rpc),
      test.mutable_rpc_descriptions(0)))
      << policy;
  return test;
}

PolicyOutcome::PolicyOutcome(const ServiceLogs& logs) {
  const ServicePerformanceLog& client = logs.instance_logs().at("client/0");
  if (client.policy_statistics().contains(0)) {
    policy = client.policy_statistics().at(0);
    const absl::Status valid = results::ValidateCounters(policy, {});
    CHECK(valid.ok()) << valid;
  }
  for (const auto& [server, peer_log] : client.peer_logs()) {
    for (const auto& [index, log] : peer_log.rpc_logs()) {
      const absl::Status merged =
          results::MergeStatistics(log.statistics(), rpc);
      CHECK(merged.ok()) << merged;
      sample_count += log.successful_rpc_samples_size();
      if (log.statistics().succeeded_count() > 0) {
        succeeded_by_server[server] += log.statistics().succeeded_count();
      }
      if (log.statistics().failed_count() > 0) {
        failed_by_server[server] += log.statistics().failed_count();
      }
    }
  }
  const auto& messages = client.error_dictionary().error_message();
  errors.assign(messages.begin(), messages.end());
  for (const auto& [index, series] : client.rpc_time_series()) {
    for (const RpcInterval& interval : series.intervals()) {
      attempts_in_series += interval.attempt_count();
    }
  }
}

}  // namespace distbench::engine
