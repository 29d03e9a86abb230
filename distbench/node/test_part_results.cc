// What a node's part of a test has measured: progress, resources and results.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/test_part.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::node {
namespace {

bool HasSent(const engine::EngineProgress& progress) {
  return progress.succeeded_count > 0 || progress.failed_count > 0 ||
         progress.in_flight_count > 0;
}

}  // namespace

TrafficProgress TestPart::TakeProgress() {
  TrafficProgress sum;
  stats::SeriesByRpc recent;
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;
  absl::MutexLock lock(&mutex_);
  for (const auto& engine : engines_) {
    const engine::EngineProgress part = engine->progress();
    if (HasSent(part)) {
      sum.set_traffic_time_ns(
          std::max(sum.traffic_time_ns(), part.counted_ns - start_ns_));
    }
    sum.set_succeeded_count(sum.succeeded_count() + part.succeeded_count);
    sum.set_failed_count(sum.failed_count() + part.failed_count);
    sum.set_in_flight_count(sum.in_flight_count() + part.in_flight_count);
    sum.set_offered_count(sum.offered_count() + part.offered_count);
    sum.set_open_loop_ended_count(sum.open_loop_ended_count() +
                                  part.open_loop_ended_count);
    engine->TakeRecent(recent);
  }
  counted_.CountRecent(recent, sum.in_flight_count());
  for (const auto& [rpc, series] : recent) {
    stats::IntervalSeries::ForEach(
        {&series}, [&](const stats::IntervalSeries::View& view) {
          service_time_ns.Merge(view.service_time_ns);
          response_time_ns.Merge(view.response_time_ns);
        });
  }
  results::EncodeField(service_time_ns,
                       TrafficProgress::kRecentServiceTimeNsFieldNumber, sum);
  results::EncodeField(response_time_ns,
                       TrafficProgress::kRecentResponseTimeNsFieldNumber, sum);
  return sum;
}

void TestPart::SampleResources() {
  resources_.Sample();
  counted_.CountCpu(
      results::UsageBetween(usage_at_start_, Usage()).rusage_diff());
  if (bindings_) bindings_->Sample();
}

CollectReply TestPart::Collect(
    absl::FunctionRef<void(ResultChunk chunk)> emit) {
  CollectReply reply;
  extensions_.TrafficEnded();
  *reply.mutable_node_usage() = results::UsageBetween(usage_at_start_, Usage());
  counted_.CountCpu(reply.node_usage().rusage_diff());
  // The current interval may extend beyond the traffic; it is used only if
  // there is no other.
  if (resources_.samples().empty()) resources_.Finish();
  NodeResources& resources = *reply.mutable_node_resources();
  // Soon, because peers may already be closing their connections.
  connections_.Finish(resources);
  *resources.mutable_host() = ReadFacts();
  if (!hardware_counting_.problem().empty()) {
    resources.mutable_host()->set_hardware_counters_problem(
        hardware_counting_.problem());
  }
  for (const ResourceSample& sample : resources_.samples()) {
    *resources.add_samples() = sample;
  }
  if (bindings_) bindings_->Finish(resources);
  Engines engines = TakeEngines();
  for (const auto& engine : engines) engine->Shutdown();
  const auto count_and_emit = [&](ResultChunk chunk) {
    counted_.AddResults(chunk);
    emit(std::move(chunk));
  };
  absl::Status status;
  for (size_t i = 0; i < engines.size(); ++i) {
    const std::string& name = request_.config().services(i);
    status.Update(Annotate(name, engines[i]->Collect(count_and_emit)));
    if (const std::optional<RUsage> usage = engines[i]->process_usage()) {
      (*resources.mutable_engine_usages())[name] = *usage;
    }
    // Frees its memory early.
    engines[i].reset();
  }
  counted_.CountRest();
  *reply.mutable_status() = hosting::ToCommandStatus(status);
  for (Finding& finding : UndoExtensions()) {
    *reply.add_findings() = std::move(finding);
  }
  extensions_.AddResults(resources);
  if (environment_.engines.disturbs_engines()) {
    Finding& finding = *reply.add_findings();
    finding.set_severity(Finding::NOTE);
    finding.set_code("one_process");
    finding.set_message(
        "all services ran in one process, together with the control plane: "
        "latencies and rates mean little; run the test on a cluster for real "
        "ones");
  }
  return reply;
}

}  // namespace distbench::node
