#include "distbench/products/trace_import/import_traces.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/trace_import/traces/call_tree.h"

namespace distbench::trace_import {

absl::StatusOr<Import> ImportTraces(SpanSet spans,
                                    const ImportOptions& options) {
  Import import;
  import.model = InferTraffic(BuildTraces(std::move(spans)),
                              {.only_successes = options.with_failures});
  if (import.model.arrivals.empty()) {
    return absl::InvalidArgumentError(
        "the spans have no RPC: none is of a client or a server");
  }
  const ConfigNames names(import.model, options.naming);
  import.config = WriteConfig(import.model, names, options.sampled_fraction);
  TestSequence sequence;
  *sequence.add_tests() = import.config.test;
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the traces make no valid config: ", checked.status().message()));
  }
  if (options.measure_fidelity) {
    absl::StatusOr<Fidelity> fidelity =
        MeasureFidelity(import.model, names, checked->tests(0));
    if (!fidelity.ok()) return fidelity.status();
    import.fidelity = *std::move(fidelity);
  }
  return import;
}

}  // namespace distbench::trace_import
