// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/import_traces.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"
#include "distbench/products/trace_import/provenance.h"
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
      CheckImported(import.config.test, "the traces", import.config.provenance);
  if (!checked.ok()) return checked.status();
  if (options.measure_fidelity) {
    absl::StatusOr<Fidelity> fidelity =
        MeasureFidelity(import.model, import.config, checked->tests(0));
    if (!fidelity.ok()) return fidelity.status();
    import.fidelity = *std::move(fidelity);
  }
  return import;
}

std::string ImportText(const Import& import) {
  const TrafficModel& model = import.model;
  const std::string head = absl::StrFormat(
      "%d trace%s over %.6g s; %d part%s of traces whose causes are missing\n",
      model.traces, model.traces == 1 ? "" : "s",
      static_cast<double>(model.duration_ns) / 1e9, model.fragments,
      model.fragments == 1 ? "" : "s");
  return head + ProvenanceText(import.config.provenance) +
         (import.fidelity ? FidelityText(*import.fidelity) : "");
}

std::string ImportJson(const Import& import) {
  base::Json json = {{"traces", import.model.traces},
                     {"duration_ns", import.model.duration_ns},
                     {"fragments", import.model.fragments}};
  AddProvenance(import.config.provenance, json);
  if (import.fidelity) json["fidelity"] = FidelityJson(*import.fidelity);
  return base::DumpJson(json, 2) + "\n";
}

}  // namespace distbench::trace_import
