// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/products/trace_import/import_traces.h"
#include "distbench/products/trace_import/spans/spans.h"
#include "distbench/report/findings/findings.h"

namespace distbench::trace_import {
namespace {

using cli::Command;
using cli::HelpSection;

struct ImportFlags {
  std::string format;
  std::vector<std::string> files;
  std::string output;
  std::string report;
  std::string json_report;
  int64_t max_spans = 1'000'000;
  ImportOptions options;
};

// Files are read one after the other, so that only one is in memory.
absl::StatusOr<SpanSet> ReadFiles(const ImportFlags& flags) {
  constexpr int64_t kMaxTraceFileBytes = int64_t{4} << 30;
  SpanSet spans;
  for (const std::string& file : flags.files) {
    const absl::StatusOr<std::string> text =
        base::ReadFile(file, kMaxTraceFileBytes);
    if (!text.ok()) return text.status();
    const absl::Status status =
        ReadSpans(flags.format, file, *text, flags.max_spans, spans);
    if (!status.ok()) return status;
  }
  return spans;
}

absl::Status WriteReports(const Import& import, const ImportFlags& flags) {
  const std::string text = ImportText(import);
  if (flags.report.empty()) {
    std::cerr << text << std::flush;
  } else if (absl::Status status = cli::WriteReport(flags.report, text);
             !status.ok()) {
    return status;
  }
  if (flags.json_report.empty()) return absl::OkStatus();
  return cli::WriteReport(flags.json_report, ImportJson(import));
}

absl::StatusOr<int> ImportFiles(const ImportFlags& flags) {
  const std::vector<std::string> formats = TraceFormats();
  if (!absl::c_linear_search(formats, flags.format)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no trace format \"", flags.format,
                     "\"; give one of ", absl::StrJoin(formats, ", ")));
  }
  absl::StatusOr<SpanSet> spans = ReadFiles(flags);
  if (!spans.ok()) return spans.status();
  const absl::StatusOr<Import> import =
      ImportTraces(*std::move(spans), flags.options);
  if (!import.ok()) return import.status();
  absl::Status status = cli::WriteReport(flags.output, import->config.text);
  if (status.ok()) status = WriteReports(*import, flags);
  if (!status.ok()) return status;
  return report::kExitOk;
}

void AddImportCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "import", "Makes a test config of traces of real traffic");
  auto flags = std::make_shared<ImportFlags>();
  const std::string formats = absl::StrJoin(TraceFormats(), "|");
  cli::AddArgument(command, "FORMAT", flags->format, formats,
                   "The format of the files: " + formats);
  cli::AddArguments(command, "FILE", flags->files, "FILE",
                    "Files with traces; - is standard input");
  cli::Require(command, "FORMAT");
  cli::Require(command, "FILE");
  cli::AddOutputFlag(command, "-o", flags->output,
                     "Write the config here; default: standard output");
  cli::AddOutputFlag(command, "--report", flags->report,
                     "Write here what was in the data, inferred and invented;\n"
                     "default: standard error");
  cli::AddOutputFlag(command, "--json_report", flags->json_report,
                     "Write the same here, as JSON");
  cli::AddSwitch(command, "--keep_names", flags->options.naming.keep_names,
                 "Keep the names of services and operations; default:\n"
                 "pseudonyms");
  cli::AddTextFlag(
      command, "--pseudonym_key", flags->options.naming.key, "TEXT",
      "A secret: without it, guessed names can be checked against\n"
      "their pseudonyms");
  cli::AddNumberFlag(
      command, "--sampled_fraction", flags->options.sampled_fraction, 1e-9, 1,
      "FRACTION",
      "The share of requests that were traced, by which rates are\n"
      "divided");
  cli::AddSwitch(
      command, "--failures", flags->options.with_failures,
      "Make faults of servers of failed calls; default: calls succeed");
  cli::AddNumberFlag(command, "--max_spans", flags->max_spans, 1,
                     std::numeric_limits<int64_t>::max(), "N",
                     "Fail if there are more; a million takes about 0.5 GB");
  cli::AddSwitch(command, "--fidelity", flags->options.measure_fidelity,
                 "Run the config on simulated time, and report how much its\n"
                 "traffic is like that of the traces");
  cli::SetFooter(
      command,
      "Examples:\n"
      "  distbench import jaeger traces.json -o mine.config --fidelity\n"
      "  distbench import otlp traces.jsonl --sampled_fraction=0.01 \\\n"
      "      -o mine.config\n"
      "  distbench check_test mine.config");
  cli::SetBody(command, chosen, [flags] { return ImportFiles(*flags); });
}

const base::Plugin<base::Product> kProduct(
    "trace_import", new base::Product{"Makes tests from recorded traces"});

const base::Plugin<Command> kCommand("import", new Command{HelpSection::kTests,
                                                           AddImportCommand});

}  // namespace
}  // namespace distbench::trace_import
