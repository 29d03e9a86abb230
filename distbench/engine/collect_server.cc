#include "distbench/engine/collect_server.h"

#include <utility>

#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::engine {
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
