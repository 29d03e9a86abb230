// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where imported configs are from, as their heads and reports say it.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_PROVENANCE_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_PROVENANCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/products/trace_import/spans/spans.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

// Sentences in which "#" stands for a number, and the number.
using Tally = std::map<std::string, int64_t>;

struct Provenance {
  // Where the parts of the config are from.
  Tally in_the_data;
  Tally inferred;
  Tally invented;

  std::vector<std::string> warnings;  // of the config, as check_test has them
  ImportNotes notes;                  // what was repaired or left out
};

// The head of a config, as comments. Without warnings and notes.
std::string ProvenanceComment(const Provenance& provenance);

// The parts of reports after the head.
std::string ProvenanceText(const Provenance& provenance);
void AddProvenance(const Provenance& provenance, base::Json& json);

// The test as it runs, as CheckTestSequence() makes it; adds what check_test
// warns of. INVALID_ARGUMENT: the config would be refused; `source` is where it
// is from, for the message.
absl::StatusOr<TestSequence> CheckImported(
    const DistributedSystemDescription& test, absl::string_view source,
    Provenance& provenance);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_PROVENANCE_H_
