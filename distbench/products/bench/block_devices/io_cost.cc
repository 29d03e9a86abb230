// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/io_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::bench {
namespace {

using Settings = std::map<std::string, std::string>;

Settings Split(absl::string_view text) {
  Settings settings;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    settings[pair.first] = pair.second;
  }
  return settings;
}

template <typename Set>
void Integer(const Settings& settings, const char* key, Set set) {
  int64_t value = 0;
  const auto found = settings.find(key);
  if (found != settings.end() && absl::SimpleAtoi(found->second, &value)) {
    set(value);
  }
}

template <typename Set>
void Percent(const Settings& settings, const char* key, Set set) {
  double value = 0;
  const auto found = settings.find(key);
  if (found != settings.end() && absl::SimpleAtod(found->second, &value)) {
    set(value);
  }
}

// What follows the device's number in its line; absent if it has none.
std::optional<std::string> LineOf(const std::string& number,
                                  const std::string& path) {
  const absl::StatusOr<std::string> text = base::ReadFile(path);
  if (!text.ok() || number.empty()) return std::nullopt;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::StartsWith(line, number + " ")) {
      return std::string(line.substr(number.size() + 1));
    }
  }
  return std::nullopt;
}

}  // namespace

IoCostModel ParseIoCostModel(absl::string_view settings) {
  const Settings split = Split(settings);
  IoCostModel model;
  Integer(split, "rbps", [&](int64_t v) { model.set_rbps(v); });
  Integer(split, "rseqiops", [&](int64_t v) { model.set_rseqiops(v); });
  Integer(split, "rrandiops", [&](int64_t v) { model.set_rrandiops(v); });
  Integer(split, "wbps", [&](int64_t v) { model.set_wbps(v); });
  Integer(split, "wseqiops", [&](int64_t v) { model.set_wseqiops(v); });
  Integer(split, "wrandiops", [&](int64_t v) { model.set_wrandiops(v); });
  return model;
}

IoCostQos ParseIoCostQos(absl::string_view settings) {
  const Settings split = Split(settings);
  IoCostQos qos;
  Percent(split, "rpct", [&](double v) { qos.set_rpct(v); });
  Integer(split, "rlat", [&](int64_t v) { qos.set_rlat(v); });
  Percent(split, "wpct", [&](double v) { qos.set_wpct(v); });
  Integer(split, "wlat", [&](int64_t v) { qos.set_wlat(v); });
  Percent(split, "min", [&](double v) { qos.set_min(v); });
  Percent(split, "max", [&](double v) { qos.set_max(v); });
  return qos;
}

std::optional<IoCostSettings> ReadIoCost(const std::string& number,
                                         const std::string& hierarchy) {
  const std::optional<std::string> qos =
      LineOf(number, hierarchy + "/io.cost.qos");
  if (!qos.has_value()) return std::nullopt;
  IoCostSettings settings;
  settings.set_device(number);
  settings.set_enable(Split(*qos)["enable"] == "1");
  *settings.mutable_qos() = ParseIoCostQos(*qos);
  if (const auto model = LineOf(number, hierarchy + "/io.cost.model");
      model.has_value()) {
    *settings.mutable_model() = ParseIoCostModel(*model);
  }
  return settings;
}

std::string ReadModelText(const IoCostModel& model) {
  return absl::StrCat("rbps=", model.rbps(), " rseqiops=", model.rseqiops(),
                      " rrandiops=", model.rrandiops());
}

std::string WriteModelText(const IoCostModel& model) {
  return absl::StrCat("wbps=", model.wbps(), " wseqiops=", model.wseqiops(),
                      " wrandiops=", model.wrandiops());
}

std::string QosText(const IoCostQos& qos) {
  return absl::StrFormat(
      "rpct=%.2f rlat=%d wpct=%.2f wlat=%d min=%.2f max=%.2f", qos.rpct(),
      qos.rlat(), qos.wpct(), qos.wlat(), qos.min(), qos.max());
}

std::string IoCostText(const IoCostModel& model, const IoCostQos& qos,
                       absl::string_view indent) {
  constexpr absl::string_view kModel = "iocost model: ";
  return absl::StrCat(indent, kModel, ReadModelText(model), "\n",  //
                      indent, std::string(kModel.size(), ' '),
                      WriteModelText(model), "\n",  //
                      indent, "iocost QoS: ", QosText(qos), "\n");
}

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
