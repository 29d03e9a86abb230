#include "distbench/engine/collect.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::engine {
namespace {

// Samples per chunk, which makes chunks of a few hundred kilobytes.
constexpr int kSamplesPerChunk = 8192;

// Combines the error dictionaries of the workers into one for the instance.
class ErrorNumbers {
 public:
  ErrorNumbers(absl::Span<const Recorder* const> recorders,
               ErrorDictionary& dictionary) {
    absl::flat_hash_map<std::string, int> numbers;
    for (const Recorder* recorder : recorders) {
      std::vector<int>& of_worker = numbers_.emplace_back();
      for (const std::string& error : recorder->errors()) {
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

void EncodeActivity(const config::ActivityPlan& plan,
                    const ActivityRecord& record, ActivityLog& log) {
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

class Collector {
 public:
  Collector(const EngineState& engine,
            absl::Span<const Recorder* const> recorders,
            absl::FunctionRef<void(ResultChunk)> emit)
      : engine_(engine),
        recorders_(recorders),
        emit_(emit),
        errors_(recorders, *instance_log_.mutable_error_dictionary()) {}

  void Run(absl::string_view error_message,
           absl::Span<const ActivityRecord> activities,
           const ActivityRecorder& activities_over_time) {
    AddActivityLogs(activities);
    EmitInstanceLog(error_message);
    for (size_t i = 0; i < activities.size(); ++i) {
      EmitActivitySeries(static_cast<int>(i), activities_over_time);
    }
    for (int rpc = 0; rpc < RpcCount(); ++rpc) {
      EmitTimeSeries(rpc);
      EmitOfferedLoad(rpc);
      EmitStreams(rpc);
      EmitPolicy(rpc);
    }
    for (size_t worker = 0; worker < recorders_.size(); ++worker) {
      EmitStatistics(worker);
      EmitSamples(worker);
      EmitReplayLogs(worker);
    }
    for (int rpc = 0; rpc < RpcCount(); ++rpc) EmitPooledStatistics(rpc);
  }

 private:
  // Adds a log for each activity that has run.
  void AddActivityLogs(absl::Span<const ActivityRecord> activities) {
    for (size_t i = 0; i < activities.size(); ++i) {
      if (activities[i].iteration_count == 0) continue;
      const config::ActivityPlan& plan = engine_.plan().activities[i];
      EncodeActivity(plan, activities[i],
                     (*instance_log_.mutable_activity_logs())[plan.name]);
    }
  }

  void EmitActivitySeries(int activity,
                          const ActivityRecorder& activities_over_time) {
    const stats::IntervalSeries* const series =
        activities_over_time.series(activity);
    if (series == nullptr) return;
    results::EncodeActivitySeries(*series, [&](ActivitySeries piece) {
      ResultChunk chunk = NewInstanceChunk();
      ActivityLog& log = (*chunk.mutable_instance_log()
                               ->mutable_activity_logs())[NameOf(activity)];
      *log.mutable_series() = std::move(piece);
      emit_(std::move(chunk));
    });
  }

  const std::string& NameOf(int activity) const {
    return engine_.plan().activities[activity].name;
  }

  void EmitInstanceLog(absl::string_view error_message) {
    if (!error_message.empty()) {
      instance_log_.set_engine_error_message(std::string(error_message));
    }
    ResultChunk chunk;
    chunk.set_instance(engine_.instance_plan().name);
    *chunk.mutable_instance_log() = std::move(instance_log_);
    emit_(std::move(chunk));
  }

  ResultChunk NewInstanceChunk() const {
    ResultChunk chunk;
    chunk.set_instance(engine_.instance_plan().name);
    return chunk;
  }

  // RPCs of the config and of its replay traces.
  int RpcCount() const {
    return recorders_.empty() ? 0 : recorders_[0]->rpc_count();
  }

  // The records of all workers for an RPC.
  std::vector<const RpcRecord*> RecordsOf(int rpc) const {
    std::vector<const RpcRecord*> records;
    for (const Recorder* recorder : recorders_) {
      if (const RpcRecord* record = recorder->record(rpc)) {
        records.push_back(record);
      }
    }
    return records;
  }

  void EmitTimeSeries(int rpc) {
    std::vector<const stats::IntervalSeries*> series;
    for (const RpcRecord* record : RecordsOf(rpc)) {
      series.push_back(&record->series);
    }
    results::EncodeTimeSeries(series, [&](RpcTimeSeries piece) {
      ResultChunk chunk = NewInstanceChunk();
      (*chunk.mutable_instance_log()->mutable_rpc_time_series())[rpc] =
          std::move(piece);
      emit_(std::move(chunk));
    });
  }

  void EmitOfferedLoad(int rpc) {
    OfferedLoad load;
    stats::LogHistogram unsent_wait_ns;
    for (const RpcRecord* record : RecordsOf(rpc)) {
      load.set_offered_count(load.offered_count() + record->offered_count);
      load.set_unsent_count(load.unsent_count() + record->unsent_count);
      load.set_held_back_count(load.held_back_count() +
                               record->held_back_count);
      unsent_wait_ns.Merge(record->unsent_wait_ns);
    }
    if (load.offered_count() == 0) return;
    if (unsent_wait_ns.count() > 0) {
      results::EncodeHistogram(unsent_wait_ns, *load.mutable_unsent_wait_ns());
    }
    ResultChunk chunk = NewInstanceChunk();
    (*chunk.mutable_instance_log()->mutable_offered_loads())[rpc] =
        std::move(load);
    emit_(std::move(chunk));
  }

  void EmitStreams(int rpc) {
    results::StreamTotals totals;
    bool streams = false;
    for (const RpcRecord* record : RecordsOf(rpc)) {
      if (record->streams == nullptr) continue;
      streams = true;
      totals.Merge(*record->streams);
    }
    if (!streams) return;
    ResultChunk chunk = NewInstanceChunk();
    totals.Encode(
        (*chunk.mutable_instance_log()->mutable_stream_statistics())[rpc]);
    emit_(std::move(chunk));
  }

  void EmitPolicy(int rpc) {
    results::PolicyTotals totals;
    bool has_policy = false;
    for (const RpcRecord* record : RecordsOf(rpc)) {
      if (record->policy == nullptr) continue;
      has_policy = true;
      totals.Merge(*record->policy);
    }
    if (!has_policy) return;
    ResultChunk chunk = NewInstanceChunk();
    totals.Encode(
        (*chunk.mutable_instance_log()->mutable_policy_statistics())[rpc]);
    emit_(std::move(chunk));
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
    recorders_[worker]->ForEachTotals(
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
    return absl::c_any_of(recorders_, [&](const Recorder* recorder) {
      return recorder->is_brief(peer, rpc);
    });
  }

  void EmitPooledStatistics(int rpc) {
    for (const RpcRecord* record : RecordsOf(rpc)) {
      if (record->pooled != nullptr) {
        pooled_[rpc].MergeHistograms(*record->pooled);
      }
    }
    if (pooled_.count(rpc) == 0) return;
    ResultChunk chunk = NewInstanceChunk();
    pooled_[rpc].Encode(
        (*chunk.mutable_instance_log()->mutable_pooled_statistics())[rpc]);
    emit_(std::move(chunk));
  }

  // By peer and RPC.
  std::map<std::pair<int, int>, int64_t> CountSamples(size_t worker) const {
    std::map<std::pair<int, int>, int64_t> kept;
    const SampleReservoir& samples = recorders_[worker]->samples();
    for (int64_t i = 0; i < samples.size(); ++i) {
      ++kept[{samples[i].peer, samples[i].rpc}];
    }
    const stats::Reservoir<ReplayedSample>& replayed =
        recorders_[worker]->replayed();
    for (int64_t i = 0; i < replayed.size(); ++i) {
      ++kept[{replayed[i].sample.peer, replayed[i].sample.rpc}];
    }
    return kept;
  }

  // Emits a log for each execution of a trace of which samples were kept.
  void EmitReplayLogs(size_t worker) {
    std::map<int64_t, RpcReplayTraceLog> logs;
    const stats::Reservoir<ReplayedSample>& replayed =
        recorders_[worker]->replayed();
    for (int64_t i = 0; i < replayed.size(); ++i) {
      const auto [found, is_new] = logs.try_emplace(replayed[i].execution);
      if (is_new) FillReplayLog(worker, replayed[i], found->second);
      RpcSample& out =
          (*found->second.mutable_rpc_samples())[replayed[i].record];
      FillSample(worker, replayed[i].sample, out);
      out.set_start_timestamp_ns(replayed[i].sample.sent_ns -
                                 replayed[i].execution_start_ns);
    }
    ResultChunk chunk;
    int64_t samples = 0;
    for (auto& [execution, log] : logs) {
      samples += log.rpc_samples_size();
      *chunk.mutable_instance_log()->add_replay_trace_logs() = std::move(log);
      if (samples < kSamplesPerChunk) continue;
      EmitReplayChunk(chunk);
      samples = 0;
    }
    if (samples > 0) EmitReplayChunk(chunk);
  }

  void EmitReplayChunk(ResultChunk& chunk) {
    chunk.set_instance(engine_.instance_plan().name);
    emit_(std::move(chunk));
    chunk.Clear();
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
        recorders_[worker]->trace(first.sample.trace));
    log.mutable_trace_context()->mutable_fanout_index()->RemoveLast();
  }

  void EmitSamples(size_t worker) {
    // Chunks under construction, by peer and RPC.
    std::map<std::pair<int, int>, ResultChunk> chunks;
    const SampleReservoir& samples = recorders_[worker]->samples();
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
          recorders_[worker]->trace(sample.trace));
    }
  }

  const EngineState& engine_;
  const absl::Span<const Recorder* const> recorders_;
  const absl::FunctionRef<void(ResultChunk)> emit_;
  ServicePerformanceLog instance_log_;
  const ErrorNumbers errors_;
  std::map<int, results::RpcTotals> pooled_;  // by RPC
};

}  // namespace

void CollectLog(const EngineState& engine, absl::string_view error_message,
                absl::Span<const ActivityRecord> activities,
                const ActivityRecorder& activities_over_time,
                absl::Span<const Recorder* const> recorders,
                absl::FunctionRef<void(ResultChunk chunk)> emit) {
  Collector(engine, recorders, emit)
      .Run(error_message, activities, activities_over_time);
}

namespace {

// The workers follow the same schedule, so the periods of one speak for all.
void AddFaults(const EngineState& engine, const Faults& faults,
               bool with_periods, ServicePerformanceLog& log) {
  for (const FaultRecord& record : faults.records()) {
    FaultLog& fault = (*log.mutable_fault_logs())[record.name];
    fault.set_request_count(fault.request_count() + record.request_count);
    fault.set_connection_count(fault.connection_count() +
                               record.connection_count);
    if (!with_periods) continue;
    for (const FaultPeriod& period : record.periods) {
      FaultTime& time = *fault.add_times();
      time.set_begin_timestamp_ns(period.begin_ns + engine.unix_offset_ns());
      time.set_end_timestamp_ns(period.end_ns + engine.unix_offset_ns());
    }
  }
}

void AddAdmission(const std::vector<std::unique_ptr<Worker>>& workers,
                  ServicePerformanceLog& log) {
  AdmissionLog& admission = *log.mutable_admission_log();
  stats::LogHistogram wait_ns;
  for (const auto& worker : workers) {
    const AdmissionTotals& totals = worker->admission()->totals();
    admission.set_admitted_count(admission.admitted_count() +
                                 totals.admitted_count);
    admission.set_refused_count(admission.refused_count() +
                                totals.refused_count);
    wait_ns.Merge(totals.wait_ns);
  }
  results::EncodeHistogram(wait_ns, *admission.mutable_wait_ns());
}

}  // namespace

void CollectServerLog(const EngineState& engine,
                      const std::vector<std::unique_ptr<Worker>>& workers,
                      absl::FunctionRef<void(ResultChunk chunk)> emit) {
  if (workers.empty()) return;
  ResultChunk chunk;
  chunk.set_instance(engine.instance_plan().name);
  ServicePerformanceLog& log = *chunk.mutable_instance_log();
  for (const auto& worker : workers) {
    if (worker->faults() == nullptr) break;
    AddFaults(engine, *worker->faults(), worker == workers.front(), log);
  }
  if (workers.front()->admission() != nullptr) AddAdmission(workers, log);
  if (log.ByteSizeLong() > 0) emit(std::move(chunk));
}

}  // namespace distbench::engine
