// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Traces in, a config and a report about it out.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_IMPORT_TRACES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_IMPORT_TRACES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/trace_import/config_writer.h"
#include "distbench/products/trace_import/fidelity.h"
#include "distbench/products/trace_import/spans/spans.h"
#include "distbench/products/trace_import/traces/traffic_model.h"

namespace distbench::trace_import {

struct ImportOptions {
  NamingOptions naming;
  double sampled_fraction = 1;  // see WriteConfig()
  bool with_failures = false;   // failed calls become faults of servers
  bool measure_fidelity = false;
};

struct Import {
  TrafficModel model;
  ImportedConfig config;  // which passes CheckTestSequence()
  std::optional<Fidelity> fidelity;
};

// INVALID_ARGUMENT if the spans are of no RPCs, if more requests arrive than a
// config can ask for, or if the config would be refused; the message says why.
absl::StatusOr<Import> ImportTraces(SpanSet spans,
                                    const ImportOptions& options);

// What was in the data, inferred and invented, what to look at in the config,
// what was repaired, and how like the traces the config is.
std::string ImportText(const Import& import);
std::string ImportJson(const Import& import);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_IMPORT_TRACES_H_
