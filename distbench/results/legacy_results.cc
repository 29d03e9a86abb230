// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/legacy_results.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "distbench/base/saturating_add.h"
#include "distbench/results/rpc_totals.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::results {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kFirstExtension = 1000;

void AddTimeParts(const RpcSample& sample, RpcTotals& totals) {
  auto& parts = totals.time_parts_ns;
  parts[TimePart::kServerQueue].Record(sample.server_queue_ns());
  parts[TimePart::kServerHandler].Record(sample.server_handler_ns());
  parts[TimePart::kNetwork].Record(base::SaturatingSubtract(
      base::SaturatingSubtract(sample.latency_ns(), sample.server_queue_ns()),
      sample.server_handler_ns()));
}

void AddSucceeded(const RpcSample& sample, RpcTotals& totals) {
  RpcCounts counts;
  counts.succeeded_count = 1;
  counts.request_bytes = sample.request_size();
  counts.response_bytes = sample.response_size();
  counts.first_start_timestamp_ns = sample.start_timestamp_ns();
  counts.last_end_timestamp_ns =
      base::SaturatingAdd(sample.start_timestamp_ns(), sample.latency_ns());
  totals.counts.Add(counts);
  totals.service_time_ns.Record(sample.latency_ns());
  if (sample.has_server_queue_ns() && sample.has_server_handler_ns()) {
    AddTimeParts(sample, totals);
  }
  if (sample.has_wire_time_ns()) {
    totals.time_parts_ns[TimePart::kWire].Record(sample.wire_time_ns());
    if (sample.wire_shared()) ++totals.counts.wire_shared_count;
  }
  if (sample.has_lateness_ns()) {
    totals.lateness_ns.Record(sample.lateness_ns());
    totals.response_time_ns.Record(
        base::SaturatingAdd(sample.lateness_ns(), sample.latency_ns()));
  }
}

void AddFailed(const RpcSample& sample, RpcTotals& totals) {
  RpcCounts counts;
  counts.failed_count = 1;
  counts.first_start_timestamp_ns = counts.last_end_timestamp_ns =
      sample.start_timestamp_ns();
  totals.counts.Add(counts);
  ++totals.failures_by_error[sample.error_index()];
}

bool IsSilent(const ServicePerformanceLog& log) {
  return log.peer_logs().empty() && log.activity_logs().empty() &&
         log.replay_trace_logs().empty() && !log.has_engine_error_message();
}

void DropOwnFields(Message& message) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->number() >= kFirstExtension) {
      reflection.ClearField(&message, field);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        DropOwnFields(*reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else {
      DropOwnFields(*reflection.MutableMessage(&message, field));
    }
  }
}

// The only metric that activities of the original have.
constexpr char kIterationCount[] = "iteration_count";

void DropOwnMetrics(ActivityLog& log) {
  auto& metrics = *log.mutable_activity_metrics();
  const auto is_own = [](const ActivityMetric& metric) {
    return metric.name() != kIterationCount;
  };
  metrics.erase(std::remove_if(metrics.begin(), metrics.end(), is_own),
                metrics.end());
}

}  // namespace

RpcStatistics StatisticsFromSamples(const RpcPerformanceLog& log) {
  RpcTotals totals;
  const auto add_all = [&totals](const auto& samples, const auto& add) {
    for (const RpcSample& sample : samples) {
      if (sample.warmup()) {
        ++totals.counts.warmup_count;
      } else {
        add(sample, totals);
      }
    }
  };
  add_all(log.successful_rpc_samples(), AddSucceeded);
  add_all(log.failed_rpc_samples(), AddFailed);
  RpcStatistics statistics;
  totals.Encode(statistics);
  return statistics;
}

void AddMissingStatistics(TestResult& result) {
  if (!result.has_service_logs()) {
    return;
  }
  for (auto& [client, service_log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    for (auto& [server, peer_log] : *service_log.mutable_peer_logs()) {
      for (auto* logs :
           {peer_log.mutable_rpc_logs(), peer_log.mutable_replay_logs()}) {
        for (auto& [rpc_index, rpc_log] : *logs) {
          if (!rpc_log.has_statistics()) {
            *rpc_log.mutable_statistics() = StatisticsFromSamples(rpc_log);
          }
        }
      }
    }
  }
}

void FitToOlderTools(ServiceLogs& logs) {
  auto& instances = *logs.mutable_instance_logs();
  for (auto log = instances.begin(); log != instances.end();) {
    log = IsSilent(log->second) ? instances.erase(log) : std::next(log);
  }
  for (auto& [instance, log] : instances) {
    for (auto& [name, activity] : *log.mutable_activity_logs()) {
      DropOwnMetrics(activity);
    }
  }
}

void DropExtensions(TestSequenceResults& results) {
  for (TestResult& result : *results.mutable_test_results()) {
    if (!result.has_service_logs()) continue;
    FitToOlderTools(*result.mutable_service_logs());
  }
  DropOwnFields(results);
}

}  // namespace distbench::results
