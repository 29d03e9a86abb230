// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Formats, tables and flags that products add to `distbench report`.

#ifndef DISTBENCH_REPORT_PARTS_REPORT_FORMAT_H_
#define DISTBENCH_REPORT_PARTS_REPORT_FORMAT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/placement.h"

namespace distbench::report {

// Receives the bytes of a report, piece by piece.
using ByteSink = absl::FunctionRef<void(absl::string_view bytes)>;

// The values of the flags that products add, by name ("--instance"). Switches
// are 1. A flag that was not given is 0.
using ReportFlagValues = std::map<std::string, int64_t, std::less<>>;

inline int64_t FlagValue(const ReportFlagValues& values,
                         absl::string_view flag) {
  const auto found = values.find(flag);
  return found == values.end() ? 0 : found->second;
}

// Writes a report. After an error, what was written is discarded.
using ReportWriter = absl::Status (*)(const ReportInput& input,
                                      const ReportFlagValues& flags,
                                      ByteSink sink);

// A format; the plug-in's name is that of --format=NAME.
struct ReportFormat {
  // A few words for the help.
  absl::string_view description;

  ReportWriter write;
};

// A table of --format=csv; the plug-in's name is that of --table=NAME.
struct CsvTable {
  // Among the tables of the core.
  Placement place;

  // A few words for the help.
  absl::string_view description;

  // Writes a header, then rows, as RenderCsv() does (csv/csv.h). The last
  // column is "simulated".
  ReportWriter write;
};

// A flag; the plug-in's name is the flag's, such as "--instance".
struct ReportFlag {
  // After the flags of the core: only the rank matters.
  Placement place;

  // What the help calls the value, a number from 1; empty for a switch.
  absl::string_view placeholder;

  absl::string_view help;

  // INVALID_ARGUMENT unless the flag goes with this format and table.
  absl::Status (*check)(absl::string_view format, absl::string_view table);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_REPORT_FORMAT_H_
