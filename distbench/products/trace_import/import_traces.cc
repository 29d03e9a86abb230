// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/import_traces.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/trace_import/traces/call_tree.h"

namespace distbench::trace_import {
namespace {

// A config has no interval below a nanosecond.
absl::Status CheckRates(const TrafficModel& model, double sampled_fraction) {
  for (const ArrivalModel& arrival : model.arrivals) {
    const double rate = arrival.rate_per_second / sampled_fraction;
    if (rate <= base::kNsPerSecond) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "requests of an RPC arrive %.3g times per second in the traces, and "
        "%.3g times if a share of %.3g was traced; a config can ask for 1e9 at "
        "most: correct the times of the spans, or --sampled_fraction",
        arrival.rate_per_second, rate, sampled_fraction));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Import> ImportTraces(SpanSet spans,
                                    const ImportOptions& options) {
  Import import;
  import.model = InferTraffic(BuildTraces(std::move(spans)),
                              {.only_successes = options.with_failures});
  if (import.model.arrivals.empty()) {
    return absl::InvalidArgumentError(
        "the spans have no RPC: none is of a client or a server");
  }
  if (absl::Status status = CheckRates(import.model, options.sampled_fraction);
      !status.ok()) {
    return status;
  }
  import.config =
      WriteConfig(import.model, options.naming, options.sampled_fraction);
  const absl::StatusOr<TestSequence> checked =
      CheckImported(import.config.test, "the traces", import.warnings);
  if (!checked.ok()) return checked.status();
  if (options.measure_fidelity) {
    absl::StatusOr<Fidelity> fidelity =
        MeasureFidelity(import.model, import.config, checked->tests(0));
    if (!fidelity.ok()) return fidelity.status();
    import.fidelity = *std::move(fidelity);
  }
  return import;
}

absl::StatusOr<TestSequence> CheckImported(
    const DistributedSystemDescription& test, absl::string_view source,
    std::vector<std::string>& warnings) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, " make no valid config: ", checked.status().message()));
  }
  for (const config::Problem& warning : config::FindWarnings(*checked)) {
    warnings.push_back(config::ToString(warning));
  }
  return checked;
}

namespace {

using base::Json;
using base::OrNull;

void AddList(const std::string& title, const Tally& tally, std::string& text) {
  absl::StrAppend(&text, title, ":\n");
  for (const std::string& sentence : Sentences(tally)) {
    absl::StrAppend(&text, "  ", sentence, "\n");
  }
}

std::string DistanceText(const std::optional<double>& distance) {
  return distance ? absl::StrFormat("distance %.3f", *distance)
                  : "too few to compare";
}

void AddRpc(const RpcFidelity& rpc, std::string& text) {
  absl::StrAppend(&text, "  ", rpc.rpc, ": ");
  if (rpc.latency_distance) {
    absl::StrAppendFormat(&text, "distance of latencies %.3f, ",
                          *rpc.latency_distance);
  } else {
    absl::StrAppendFormat(&text,
                          "too few calls to compare (%.0f, traces %.0f), ",
                          rpc.measured.simulated, rpc.measured.traces);
  }
  absl::StrAppendFormat(&text, "mean %.1f us, traces %.1f us; ",
                        rpc.mean_us.simulated, rpc.mean_us.traces);
  if (rpc.latency_distance) {
    absl::StrAppendFormat(&text, "p99 %.1f us, traces %.1f us; ",
                          rpc.p99_us.simulated, rpc.p99_us.traces);
  }
  absl::StrAppendFormat(&text, "calls per arrival %.3g, traces %.3g",
                        rpc.calls_per_arrival.simulated,
                        rpc.calls_per_arrival.traces);
  if (rpc.failed_share.simulated > 0 || rpc.failed_share.traces > 0) {
    absl::StrAppendFormat(&text, "; failed %.1f%%, traces %.1f%%",
                          100 * rpc.failed_share.simulated,
                          100 * rpc.failed_share.traces);
  }
  text += "\n";
}

void AddFidelity(const Fidelity& fidelity, std::string& text) {
  absl::StrAppendFormat(
      &text,
      "On simulated time (distances: the difference of quantiles, on average, "
      "as a part of the mean of the traces):\n"
      "  arrivals: %.0f, %.6g/s; traces %.0f, ",
      fidelity.arrivals.simulated, fidelity.simulated_arrivals_per_second,
      fidelity.arrivals.traces);
  text += fidelity.traced_arrivals_per_second
              ? absl::StrFormat("%.6g/s", *fidelity.traced_arrivals_per_second)
              : "which have no rate: that of the config is invented";
  absl::StrAppendFormat(&text,
                        "\n  calls per trace: %.3g, traces %.3g; %s\n"
                        "  levels per trace: %s\n",
                        fidelity.calls_per_trace.simulated,
                        fidelity.calls_per_trace.traces,
                        DistanceText(fidelity.size_distance),
                        DistanceText(fidelity.depth_distance));
  for (const RpcFidelity& rpc : fidelity.rpcs) AddRpc(rpc, text);
}

Json ToJson(const Compared& compared) {
  return {{"traces", compared.traces}, {"simulated", compared.simulated}};
}

Json ToJson(const Fidelity& fidelity) {
  Json json = {{"arrivals", ToJson(fidelity.arrivals)},
               {"arrivals_per_second",
                {{"traces", OrNull(fidelity.traced_arrivals_per_second)},
                 {"simulated", fidelity.simulated_arrivals_per_second}}},
               {"calls_per_trace", ToJson(fidelity.calls_per_trace)},
               {"size_distance", OrNull(fidelity.size_distance)},
               {"depth_distance", OrNull(fidelity.depth_distance)},
               {"rpcs", Json::array()}};
  for (const RpcFidelity& rpc : fidelity.rpcs) {
    json["rpcs"].push_back(
        {{"rpc", rpc.rpc},
         {"latency_distance", OrNull(rpc.latency_distance)},
         {"measured", ToJson(rpc.measured)},
         {"mean_us", ToJson(rpc.mean_us)},
         {"p99_us", ToJson(rpc.p99_us)},
         {"calls_per_arrival", ToJson(rpc.calls_per_arrival)},
         {"failed_share", ToJson(rpc.failed_share)}});
  }
  return json;
}

}  // namespace

std::string ProvenanceText(const Provenance& provenance,
                           const std::vector<std::string>& warnings,
                           const ImportNotes& notes) {
  std::string text;
  AddList("In the data", provenance.in_the_data, text);
  AddList("Inferred", provenance.inferred, text);
  AddList("Invented", provenance.invented, text);
  if (!warnings.empty()) absl::StrAppend(&text, "Warnings:\n");
  for (const std::string& warning : warnings) {
    absl::StrAppend(&text, "  ", warning, "\n");
  }
  if (!notes.empty()) absl::StrAppend(&text, "Repaired or left out:\n");
  for (const auto& [note, count] : notes) {
    absl::StrAppend(&text, "  ", count, " times: ", note, "\n");
  }
  return text;
}

void AddProvenance(const Provenance& provenance,
                   const std::vector<std::string>& warnings,
                   const ImportNotes& notes, Json& json) {
  json["in_the_data"] = Sentences(provenance.in_the_data);
  json["inferred"] = Sentences(provenance.inferred);
  json["invented"] = Sentences(provenance.invented);
  json["warnings"] = warnings;
  json["notes"] = notes;
}

std::string ImportText(const Import& import) {
  const TrafficModel& model = import.model;
  std::string text = absl::StrFormat(
      "%d traces over %.6g s; %d parts of traces whose causes are missing\n",
      model.traces, static_cast<double>(model.duration_ns) / 1e9,
      model.fragments);
  text +=
      ProvenanceText(import.config.provenance, import.warnings, model.notes);
  if (import.fidelity) AddFidelity(*import.fidelity, text);
  return text;
}

std::string ImportJson(const Import& import) {
  Json json = {{"traces", import.model.traces},
               {"duration_ns", import.model.duration_ns},
               {"fragments", import.model.fragments}};
  AddProvenance(import.config.provenance, import.warnings, import.model.notes,
                json);
  if (import.fidelity) json["fidelity"] = ToJson(*import.fidelity);
  return base::DumpJson(json, 2) + "\n";
}

}  // namespace distbench::trace_import
