#include "distbench/products/bench/block_devices/io_cost_measurement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::bench {
namespace {

constexpr char kMixed[] = "mixed";
constexpr double kCpuBoundShare = 0.9;

const IoPhaseRecord* Find(const IoPhaseRecords& records,
                          absl::string_view name) {
  for (const IoPhaseRecord& record : records) {
    if (record.name() == name) return &record;
  }
  return nullptr;
}

// The latencies of the reads or writes of a phase, of which there is at least
// one.
absl::StatusOr<stats::LogHistogram> LatenciesOf(const IoPhaseRecords& records,
                                                absl::string_view phase,
                                                bool of_writes) {
  const IoPhaseRecord* record = Find(records, phase);
  if (record == nullptr || record->duration_ns() <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the phase ", phase, " was not measured"));
  }
  stats::LogHistogram histogram;
  const absl::Status status = results::AddHistogram(
      of_writes ? record->write_ns() : record->read_ns(), histogram);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the phase ", phase, ": ", status.message()));
  }
  if (histogram.count() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "in the phase ", phase, ", no ", of_writes ? "write" : "read",
        " ended; use a longer runtime="));
  }
  return histogram;
}

absl::StatusOr<double> RateOf(const IoPhaseRecords& records,
                              absl::string_view phase, bool of_writes) {
  const absl::StatusOr<stats::LogHistogram> latencies =
      LatenciesOf(records, phase, of_writes);
  if (!latencies.ok()) return latencies.status();
  const IoPhaseRecord& record = *Find(records, phase);
  return static_cast<double>(latencies->count()) * 1e9 / record.duration_ns();
}

// A model of 0 is not valid. Damaged records may have any rate.
int64_t WholeRate(double per_second) {
  constexpr double kMost = 1e18;
  return std::llround(std::clamp(per_second, 1.0, kMost));
}

IoPhase CapacityPhase(const char* name, bool is_write, bool is_random,
                      int64_t block_bytes,
                      const IoCostMeasurementOptions& options) {
  IoPhase phase;
  phase.name = name;
  phase.block_bytes = block_bytes;
  phase.is_random = is_random;
  phase.queue_depth = options.queue_depth;
  (is_write ? phase.write_rate : phase.read_rate) = IoPhase::kUnlimited;
  phase.warmup = options.warmup;
  phase.duration = options.runtime;
  return phase;
}

int64_t Microseconds(const stats::LogHistogram& latencies_ns,
                     double percentile) {
  const double ns = latencies_ns.ValueAtQuantile(percentile / 100);
  return std::max<int64_t>(1, std::llround(std::ceil(ns / 1000)));
}

}  // namespace

std::vector<IoPhase> CapacityPhases(const IoCostMeasurementOptions& options) {
  const int64_t large = options.bandwidth_block_bytes;
  const int64_t small = kIoCostBlockBytes;
  return {
      CapacityPhase("rbps", false, false, large, options),
      CapacityPhase("rseqiops", false, false, small, options),
      CapacityPhase("rrandiops", false, true, small, options),
      CapacityPhase("wbps", true, false, large, options),
      CapacityPhase("wseqiops", true, false, small, options),
      CapacityPhase("wrandiops", true, true, small, options),
  };
}

IoPhase MixedPhase(const IoCostModel& model,
                   const IoCostMeasurementOptions& options) {
  IoPhase phase =
      CapacityPhase(kMixed, false, true, kIoCostBlockBytes, options);
  phase.read_rate = static_cast<double>(model.rrandiops()) / 2;
  phase.write_rate = static_cast<double>(model.wrandiops()) / 2;
  return phase;
}

absl::StatusOr<IoCostModel> ModelFrom(const IoPhaseRecords& records) {
  IoCostModel model;
  absl::Status status;
  const auto rate = [&](const char* phase, bool of_writes) -> int64_t {
    const absl::StatusOr<double> found = RateOf(records, phase, of_writes);
    if (!found.ok()) {
      status.Update(found.status());
      return 0;
    }
    return WholeRate(*found);
  };
  const auto bytes = [&](const char* phase, bool of_writes) -> int64_t {
    const absl::StatusOr<double> found = RateOf(records, phase, of_writes);
    if (!found.ok()) {
      status.Update(found.status());
      return 0;
    }
    return WholeRate(*found * Find(records, phase)->block_bytes());
  };
  model.set_rbps(bytes("rbps", false));
  model.set_rseqiops(rate("rseqiops", false));
  model.set_rrandiops(rate("rrandiops", false));
  model.set_wbps(bytes("wbps", true));
  model.set_wseqiops(rate("wseqiops", true));
  model.set_wrandiops(rate("wrandiops", true));
  if (!status.ok()) return status;
  return model;
}

absl::StatusOr<IoCostQos> QosFrom(const IoPhaseRecords& records,
                                  double percentile) {
  // Also false for what is no number.
  if (!(percentile > 0 && percentile < 100)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the percentile ", percentile, " is not between 0 and 100"));
  }
  const absl::StatusOr<stats::LogHistogram> reads =
      LatenciesOf(records, kMixed, false);
  if (!reads.ok()) return reads.status();
  const absl::StatusOr<stats::LogHistogram> writes =
      LatenciesOf(records, kMixed, true);
  if (!writes.ok()) return writes.status();
  const IoPhaseRecord& record = *Find(records, kMixed);
  const double seconds = record.duration_ns() / 1e9;
  const double wanted_reads = record.wanted_read_rate() * seconds;
  const double wanted_writes = record.wanted_write_rate() * seconds;
  if (wanted_reads <= 0 || wanted_writes <= 0) {
    return absl::InvalidArgumentError("the phase mixed lacks its rates");
  }
  // Each kind is half of the load.
  const double done =
      (reads->count() / wanted_reads + writes->count() / wanted_writes) / 2;
  IoCostQos qos;
  qos.set_rpct(percentile);
  qos.set_rlat(Microseconds(*reads, percentile));
  qos.set_wpct(percentile);
  qos.set_wlat(Microseconds(*writes, percentile));
  qos.set_min(std::clamp(std::floor(done * 10'000) / 100, 1.0, 100.0));
  qos.set_max(100);
  return qos;
}

std::vector<std::string> CpuBoundPhases(const IoPhaseRecords& records) {
  std::vector<std::string> sentences;
  for (const IoPhaseRecord& record : records) {
    const double available_ns =
        static_cast<double>(record.duration_ns()) * record.cpu_count();
    if (available_ns <= 0 || record.cpu_ns() < kCpuBoundShare * available_ns) {
      continue;
    }
    sentences.push_back(absl::StrFormat(
        "the phase %s used %.0f %% of the CPUs' time: the device may be "
        "faster than %s says",
        record.name(), 100 * record.cpu_ns() / available_ns, record.name()));
  }
  return sentences;
}

absl::Status MeasureIoCost(
    const IoCostMeasurementOptions& options, const IoPhaseRunner& run,
    const std::function<absl::Status(const IoPhaseRecord&)>& observe,
    IoPhaseRecords& records) {
  const auto measure = [&](const IoPhase& phase) -> absl::Status {
    if (Find(records, phase.name) != nullptr) return absl::OkStatus();
    absl::StatusOr<IoPhaseRecord> record = run(phase);
    if (!record.ok()) return record.status();
    *records.Add() = *std::move(record);
    return observe(records[records.size() - 1]);
  };
  for (const IoPhase& phase : CapacityPhases(options)) {
    if (absl::Status status = measure(phase); !status.ok()) return status;
  }
  const absl::StatusOr<IoCostModel> model = ModelFrom(records);
  if (!model.ok()) return model.status();
  return measure(MixedPhase(*model, options));
}

}  // namespace distbench::bench
