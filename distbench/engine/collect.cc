// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The results of an engine: Engine::Collect().

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/recording/iteration_recorder.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::engine {
namespace {

// Samples per chunk, which makes chunks of a few hundred kilobytes.
constexpr int kSamplesPerChunk = 8192;

// Combines the error dictionaries of the workers into one for the instance.
class ErrorNumbers {
 public:
  ErrorNumbers(absl::Span<const std::unique_ptr<Worker>> workers,
               ErrorDictionary& dictionary) {
    absl::flat_hash_map<std::string, int> numbers;
    for (const auto& worker : workers) {
      std::vector<int>& of_worker = numbers_.emplace_back();
      for (const std::string& error : worker->recorder().errors()) {
        const auto [found, is_new] =
            numbers.try_emplace(error, dictionary.error_message_size());
        if (is_new) dictionary.add_error_message(error);
        of_worker.push_back(found->second);
      }
    }
  }

  int Of(size_t worker, int number) const { return numbers_[worker][number]; }

 private:
  std::vector<std::vector<int>> numbers_;  // by worker, then its own number
};

int64_t MetricOf(const ActivityRecord& record, absl::string_view metric) {
  if (metric == config::kInputBytesMetric) return record.work.input_bytes;
  if (metric == config::kOutputBytesMetric) return record.work.output_bytes;
  if (metric == config::kOperationsMetric) return record.work.operations;
  if (metric == config::kFailedOperationsMetric)
    return record.work.failed_operations;
  return static_cast<int64_t>(record.work.checksum);
}

void AddActivity(const config::ActivityPlan& plan, const ActivityRecord& record,
                 ServicePerformanceLog& instance_log) {
  if (record.iteration_count == 0) return;
  ActivityLog& log = (*instance_log.mutable_activity_logs())[plan.name];
  const auto add = [&log](absl::string_view name, int64_t value) {
    ActivityMetric& metric = *log.add_activity_metrics();
    metric.set_name(std::string(name));
    metric.set_value_int(value);
  };
  add(config::kIterationCountMetric, record.iteration_count);
  if (!record.is_simulated) {
    for (const std::string& metric :
         config::FindActivity(plan.function)->metrics) {
      add(metric, MetricOf(record, metric));
    }
  }
  results::EncodeHistogram(record.duration_ns, *log.mutable_duration_ns());
  results::EncodeHistogram(record.queueing_ns, *log.mutable_queueing_ns());
}

void AddDriver(protocol::ProtocolDriver& driver, ServicePerformanceLog& log) {
  for (const auto& [name, value] : driver.Counters()) {
    (*log.mutable_driver_counters())[name] = value;
  }
  for (const protocol::ConnectionReadings& readings :
       driver.NetworkReadings()) {
    NetworkSettingProof& proof = *log.add_network_settings();
    proof.set_accepted(readings.accepted);
    proof.set_connection_count(readings.connection_count);
    for (const auto& [name, asked, found, is_as_asked] : readings.settings) {
      NetworkSettingReading& reading = *proof.add_settings();
      reading.set_name(name);
      reading.set_asked(asked);
      reading.set_found(found);
      if (!is_as_asked) reading.set_differs(true);
    }
  }
}

// Reports compare what was sent with what should have been, from then on.
void AddTrafficStart(const EngineState& engine, ServicePerformanceLog& log) {
  const int list = engine.service().main_list;
  if (list == config::kNone || engine.traffic_start_ns() == 0) return;
  if (absl::c_any_of(engine.plan().lists[list].actions,
                     [](const config::ActionPlan& action) {
                       return action.iterations.composed_arrivals != nullptr;
                     })) {
    log.set_traffic_start_timestamp_ns(engine.traffic_start_ns() +
                                       engine.unix_offset_ns());
  }
}

void AddOfferedLoad(int rpc, const RpcRecord& record,
                    ServicePerformanceLog& log) {
  if (record.offered_count == 0) return;
  OfferedLoad& load = (*log.mutable_offered_loads())[rpc];
  load.set_offered_count(record.offered_count);
  load.set_unsent_count(record.unsent_count);
  load.set_held_back_count(record.held_back_count);
  if (record.unsent_wait_ns.count() == 0) return;
  results::EncodeHistogram(record.unsent_wait_ns,
                           *load.mutable_unsent_wait_ns());
}

class Collector {
 public:
  Collector(const EngineState& engine,
            absl::Span<const std::unique_ptr<Worker>> workers,
            absl::FunctionRef<void(ResultChunk)> emit)
      : engine_(engine),
        workers_(workers),
        emit_(emit),
        errors_(workers, *instance_log_.mutable_error_dictionary()) {}

  void Run(absl::string_view error_message, protocol::ProtocolDriver& driver,
           Activities& activities) {
    EmitInstanceLog(error_message, driver, activities.Records());
    EmitActivitySeries(activities.recorder());
    const int rpc_count = workers_.empty() ? 0 : RecorderOf(0).rpc_count();
    for (int rpc = 0; rpc < rpc_count; ++rpc) EmitTimeSeries(rpc);
    for (size_t worker = 0; worker < workers_.size(); ++worker) {
      EmitServing(*workers_[worker]);
      EmitIterations(*workers_[worker]);
      EmitStatistics(worker);
      for (int rpc = 0; rpc < rpc_count; ++rpc) EmitRecord(worker, rpc);
      EmitSamples(worker);
      EmitReplayLogs(worker);
    }
  }

 private:
  const Recorder& RecorderOf(size_t worker) const {
    return workers_[worker]->recorder();
  }

  // Emits a part of the instance's log, unless it is empty.
  void EmitLog(ServicePerformanceLog log) {
    if (log.ByteSizeLong() == 0) return;
    ResultChunk chunk;
    chunk.set_instance(engine_.instance_plan().name);
    *chunk.mutable_instance_log() = std::move(log);
    emit_(std::move(chunk));
  }

  void EmitInstanceLog(absl::string_view error_message,
                       protocol::ProtocolDriver& driver,
                       absl::Span<const ActivityRecord> activities) {
    for (size_t i = 0; i < activities.size(); ++i) {
      AddActivity(engine_.plan().activities[i], activities[i], instance_log_);
    }
    AddDriver(driver, instance_log_);
    AddTrafficStart(engine_, instance_log_);
    if (!error_message.empty()) {
      instance_log_.set_engine_error_message(std::string(error_message));
    }
    EmitLog(std::move(instance_log_));
  }

  void EmitActivitySeries(const ActivityRecorder& recorder) {
    const auto& activities = engine_.plan().activities;
    for (int i = 0; i < std::ssize(activities); ++i) {
      const stats::IntervalSeries* const series = recorder.series(i);
      if (series == nullptr) continue;
      results::EncodeActivitySeries(*series, [&](ActivitySeries piece) {
        ServicePerformanceLog log;
        *(*log.mutable_activity_logs())[activities[i].name].mutable_series() =
            std::move(piece);
        EmitLog(std::move(log));
      });
    }
  }

  void EmitTimeSeries(int rpc) {
    std::vector<const stats::IntervalSeries*> series;
    for (const auto& worker : workers_) {
      const RpcRecord* const record = worker->recorder().record(rpc);
      if (record != nullptr) series.push_back(&record->series);
    }
    results::EncodeTimeSeries(series, [&](RpcTimeSeries piece) {
      ServicePerformanceLog log;
      (*log.mutable_rpc_time_series())[rpc] = std::move(piece);
      EmitLog(std::move(log));
    });
  }

  // What a worker did as a server on purpose.
  void EmitServing(const Worker& worker) {
    ServicePerformanceLog log;
    if (worker.faults() != nullptr) worker.faults()->AddTo(log);
    if (worker.admission() != nullptr) {
      worker.admission()->totals().Encode(*log.mutable_admission_log());
    }
    EmitLog(std::move(log));
  }

  void EmitIterations(const Worker& worker) {
    ServicePerformanceLog log;
    const std::vector<std::string>& actions = engine_.plan().recorded_actions;
    for (int i = 0; i < std::ssize(actions); ++i) {
      IterationLog iterations;
      if (worker.iterations().Encode(i, engine_.unix_offset_ns(), iterations)) {
        (*log.mutable_iteration_logs())[actions[i]] = std::move(iterations);
      }
    }
    EmitLog(std::move(log));
  }

  // What a worker has recorded of an RPC to all peers together. Requires
  // EmitStatistics() of the worker.
  void EmitRecord(size_t worker, int rpc) {
    const RpcRecord* const record = RecorderOf(worker).record(rpc);
    if (record == nullptr) return;
    ServicePerformanceLog log;
    AddOfferedLoad(rpc, *record, log);
    if (record->streams != nullptr) {
      record->streams->Encode((*log.mutable_stream_statistics())[rpc]);
    }
    if (record->policy != nullptr) {
      record->policy->Encode((*log.mutable_policy_statistics())[rpc]);
    }
    if (record->pooled != nullptr) {
      pooled_[rpc].MergeHistograms(*record->pooled);
    }
    if (const auto pooled = pooled_.extract(rpc); !pooled.empty()) {
      pooled.mapped().Encode((*log.mutable_pooled_statistics())[rpc]);
    }
    EmitLog(std::move(log));
  }

  ResultChunk NewChunk(int peer, int rpc) const {
    ResultChunk chunk;
    chunk.set_instance(engine_.instance_plan().name);
    chunk.set_peer(engine_.routes().NameOfCounted(peer));
    chunk.set_rpc_index(rpc);
    if (rpc >= std::ssize(engine_.plan().rpcs)) chunk.set_is_replay(true);
    return chunk;
  }

  void EmitStatistics(size_t worker) {
    std::map<std::pair<int, int>, int64_t> kept = CountSamples(worker);
    RecorderOf(worker).ForEachTotals(
        [&](int peer, int rpc, const results::RpcTotals& recorded) {
          results::RpcTotals totals = recorded;
          if (IsBrief(peer, rpc)) {
            pooled_[rpc].MergeHistograms(totals);
            totals.DropHistograms();
          }
          results::RpcCounts& counts = totals.counts;
          if (counts.has_timestamps()) {
            counts.first_start_timestamp_ns += engine_.unix_offset_ns();
            counts.last_end_timestamp_ns += engine_.unix_offset_ns();
          }
          counts.dropped_sample_count = counts.succeeded_count +
                                        counts.failed_count +
                                        counts.warmup_count - kept[{peer, rpc}];
          totals.failures_by_error.clear();
          for (const auto& [error, count] : recorded.failures_by_error) {
            totals.failures_by_error[errors_.Of(worker, error)] += count;
          }
          ResultChunk chunk = NewChunk(peer, rpc);
          totals.Encode(*chunk.mutable_rpc_log()->mutable_statistics());
          emit_(std::move(chunk));
        });
  }

  // Whether a worker has no histograms for the RPC. The histograms of other
  // workers would then be mistaken for the whole.
  bool IsBrief(int peer, int rpc) const {
    return absl::c_any_of(workers_, [&](const auto& worker) {
      return worker->recorder().is_brief(peer, rpc);
    });
  }

  // By peer and RPC.
  std::map<std::pair<int, int>, int64_t> CountSamples(size_t worker) const {
    std::map<std::pair<int, int>, int64_t> kept;
    const SampleReservoir& samples = RecorderOf(worker).samples();
    for (int64_t i = 0; i < samples.size(); ++i) {
      ++kept[{samples[i].peer, samples[i].rpc}];
    }
    const stats::Reservoir<ReplayedSample>& replayed =
        RecorderOf(worker).replayed();
    for (int64_t i = 0; i < replayed.size(); ++i) {
      ++kept[{replayed[i].sample.peer, replayed[i].sample.rpc}];
    }
    return kept;
  }

  // Emits a log for each execution of a trace of which samples were kept.
  void EmitReplayLogs(size_t worker) {
    std::map<int64_t, RpcReplayTraceLog> logs;
    const stats::Reservoir<ReplayedSample>& replayed =
        RecorderOf(worker).replayed();
    for (int64_t i = 0; i < replayed.size(); ++i) {
      const auto [found, is_new] = logs.try_emplace(replayed[i].execution);
      if (is_new) FillReplayLog(worker, replayed[i], found->second);
      RpcSample& out =
          (*found->second.mutable_rpc_samples())[replayed[i].record];
      FillSample(worker, replayed[i].sample, out);
      out.set_start_timestamp_ns(replayed[i].sample.sent_ns -
                                 replayed[i].execution_start_ns);
    }
    ServicePerformanceLog piece;
    int64_t samples = 0;
    for (auto& [execution, log] : logs) {
      samples += log.rpc_samples_size();
      *piece.add_replay_trace_logs() = std::move(log);
      if (samples < kSamplesPerChunk) continue;
      EmitLog(std::exchange(piece, {}));
      samples = 0;
    }
    EmitLog(std::move(piece));
  }

  void FillReplayLog(size_t worker, const ReplayedSample& first,
                     RpcReplayTraceLog& log) const {
    const config::Plan& plan = engine_.plan();
    log.set_rpc_replay_trace_name(
        plan.replay_traces[first.sample.rpc - plan.rpcs.size()].name);
    log.set_timestamp_offset_ns(first.execution_start_ns +
                                engine_.unix_offset_ns());
    if (first.sample.warmup) log.set_warmup(true);
    if (first.sample.trace < 0) return;
    // The context of the iteration is that of any of its RPCs, without the
    // RPC's own index.
    log.mutable_trace_context()->ParseFromString(
        RecorderOf(worker).trace(first.sample.trace));
    log.mutable_trace_context()->mutable_fanout_index()->RemoveLast();
  }

  void EmitSamples(size_t worker) {
    // Chunks under construction, by peer and RPC.
    std::map<std::pair<int, int>, ResultChunk> chunks;
    const SampleReservoir& samples = RecorderOf(worker).samples();
    for (int64_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      const auto [found, is_new] =
          chunks.try_emplace({sample.peer, sample.rpc});
      ResultChunk& chunk = found->second;
      if (is_new) chunk = NewChunk(sample.peer, sample.rpc);
      RpcPerformanceLog& log = *chunk.mutable_rpc_log();
      FillSample(worker, sample,
                 sample.error == 0 ? *log.add_successful_rpc_samples()
                                   : *log.add_failed_rpc_samples());
      if (log.successful_rpc_samples_size() + log.failed_rpc_samples_size() ==
          kSamplesPerChunk) {
        emit_(std::move(chunk));
        chunks.erase(found);
      }
    }
    for (auto& [key, chunk] : chunks) emit_(std::move(chunk));
  }

  void FillSample(size_t worker, const Sample& sample, RpcSample& out) const {
    out.set_request_size(sample.request_bytes);
    out.set_response_size(sample.response_bytes);
    out.set_start_timestamp_ns(sample.sent_ns + engine_.unix_offset_ns());
    out.set_latency_ns(sample.service_time_ns);
    if (sample.open_loop) out.set_lateness_ns(sample.lateness_ns);
    if (sample.has_time_parts()) {
      out.set_server_queue_ns(static_cast<int64_t>(sample.server_queue_ns));
      out.set_server_handler_ns(static_cast<int64_t>(sample.server_handler_ns));
    }
    if (sample.has_wire_time()) {
      out.set_wire_time_ns(static_cast<int64_t>(sample.wire_ns));
      out.set_wire_shared(sample.wire_shared);
    }
    if (sample.warmup) out.set_warmup(true);
    if (sample.error != 0) {
      out.set_error_index(errors_.Of(worker, sample.error));
    }
    const std::vector<int>& peers = engine_.routes().peers();
    if (sample.through_channel && sample.peer < peers.size()) {
      out.set_server_instance(
          engine_.plan().instances[peers[sample.peer]].number);
    }
    if (sample.trace >= 0) {
      out.mutable_trace_context()->ParseFromString(
          RecorderOf(worker).trace(sample.trace));
    }
  }

  const EngineState& engine_;
  const absl::Span<const std::unique_ptr<Worker>> workers_;
  const absl::FunctionRef<void(ResultChunk)> emit_;
  ServicePerformanceLog instance_log_;
  const ErrorNumbers errors_;
  std::map<int, results::RpcTotals> pooled_;  // by RPC, of one worker
};

}  // namespace

void Engine::Collect(absl::FunctionRef<void(ResultChunk chunk)> emit) {
  std::vector<Recorder*> recorders;
  for (const auto& worker : workers_) recorders.push_back(&worker->recorder());
  if (const int list = state_.service().main_list; list != config::kNone) {
    KeepOfMainList(options_.plan->lists[list].max_rpc_samples, recorders,
                   SeedOf(kNoWorker));
  }
  Collector(state_, workers_, emit).Run(error_message_, *driver_, activities_);
}

}  // namespace distbench::engine
