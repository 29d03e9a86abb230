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
#include "distbench/products/trace_import/chakra/job.h"
#include "distbench/products/trace_import/chakra/rank_files.h"
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
  bool keep_names = false;  // what is the default, for scripts of before 1.1
  ImportOptions options;
  JobOptions job_options;
};

// The format of what ranks of a job do, not of spans.
constexpr char kChakra[] = "chakra";

std::vector<std::string> AllFormats() {
  std::vector<std::string> formats = TraceFormats();
  formats.push_back(kChakra);
  return formats;
}

constexpr int64_t kMaxTraceFileBytes = int64_t{4} << 30;

// What is written: a config, and what is said about it.
struct Documents {
  std::string config;
  std::string text;
  std::string json;
};

// Files are read one after the other, so that only one is in memory.
absl::StatusOr<Documents> ImportSpans(const ImportFlags& flags) {
  SpanSet spans;
  for (const std::string& file : flags.files) {
    const absl::StatusOr<std::string> text =
        base::ReadFile(file, kMaxTraceFileBytes);
    if (!text.ok()) return text.status();
    const absl::Status status =
        ReadSpans(flags.format, file, *text, flags.max_spans, spans);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<Import> import =
      ImportTraces(std::move(spans), flags.options);
  if (!import.ok()) return import.status();
  return Documents{import->config.text, ImportText(*import),
                   ImportJson(*import)};
}

absl::StatusOr<Documents> ImportRanks(const ImportFlags& flags) {
  const absl::StatusOr<std::vector<RankWork>> works =
      ReadRanks(flags.files, flags.max_spans);
  if (!works.ok()) return works.status();
  const absl::StatusOr<JobImport> import = ImportJob(*works, flags.job_options);
  if (!import.ok()) return import.status();
  return Documents{import->text, JobText(*import), JobJson(*import)};
}

absl::Status Check(const CLI::App& command, const std::string& format) {
  const std::vector<std::string> formats = AllFormats();
  if (!absl::c_linear_search(formats, format)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no trace format \"", format, "\"; give one of ",
                     absl::StrJoin(formats, ", ")));
  }
  const std::vector<std::string> of_others =
      format == kChakra
          ? std::vector<std::string>{"--hide_names",    "--keep_names",
                                     "--pseudonym_key", "--sampled_fraction",
                                     "--failures",      "--fidelity"}
          : std::vector<std::string>{"--ranks", "--iterations",
                                     "--warmup_iterations"};
  for (const std::string& flag : of_others) {
    if (!flags::IsGiven(command, flag)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " has no effect on traces of the format ", format,
                     "; remove it"));
  }
  if (flags::IsGiven(command, "--keep_names") &&
      (flags::IsGiven(command, "--hide_names") ||
       flags::IsGiven(command, "--pseudonym_key"))) {
    return absl::InvalidArgumentError(
        "--keep_names keeps the names that --hide_names and --pseudonym_key "
        "replace; remove one of them");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ImportFiles(const CLI::App& command, ImportFlags flags) {
  absl::Status status = Check(command, flags.format);
  if (!status.ok()) return status;
  NamingOptions& naming = flags.options.naming;
  naming.hide_names |= !naming.key.empty();
  const absl::StatusOr<Documents> documents =
      flags.format == kChakra ? ImportRanks(flags) : ImportSpans(flags);
  if (!documents.ok()) return documents.status();
  status = cli::WriteReport(flags.output, documents->config);
  if (status.ok() && !flags.report.empty()) {
    status = cli::WriteReport(flags.report, documents->text);
  } else if (status.ok()) {
    std::cerr << documents->text << std::flush;
  }
  if (status.ok() && !flags.json_report.empty()) {
    status = cli::WriteReport(flags.json_report, documents->json);
  }
  if (!status.ok()) return status;
  return report::kExitOk;
}

void AddJobFlags(CLI::App& command, JobOptions& options) {
  constexpr int64_t kMostIterations = 1'000'000'000;
  cli::AddNumberFlag(command, "--ranks", options.ranks, 2, kMaxRanks, "N",
                     "Of chakra, with the file of one rank: so many ranks do\n"
                     "what it does");
  cli::AddNumberFlag(command, "--iterations", options.iterations, 1,
                     kMostIterations, "N",
                     "Of chakra: how often ranks do what is in the trace");
  cli::AddNumberFlag(command, "--warmup_iterations", options.warmup_iterations,
                     0, kMostIterations, "N",
                     "Of chakra: iterations before these, which are not\n"
                     "measured");
}

void AddImportCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "import", "Makes a test config of traces of real traffic");
  auto flags = std::make_shared<ImportFlags>();
  const std::string formats = absl::StrJoin(AllFormats(), "|");
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
  cli::AddSwitch(command, "--hide_names", flags->options.naming.hide_names,
                 "Replace the names of services and operations by\n"
                 "pseudonyms");
  cli::AddSwitch(command, "--keep_names", flags->keep_names,
                 "Keep them, which is the default");
  cli::AddTextFlag(command, "--pseudonym_key", flags->options.naming.key,
                   "TEXT",
                   "A secret, with which --hide_names is implied: without it,\n"
                   "guessed names can be checked against their pseudonyms");
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
                     "Fail if there are more; a million takes about 0.5 GB.\n"
                     "Of chakra: nodes of a rank");
  cli::AddSwitch(command, "--fidelity", flags->options.measure_fidelity,
                 "Run the config on simulated time, and report how much its\n"
                 "traffic is like that of the traces");
  AddJobFlags(command, flags->job_options);
  cli::SetFooter(
      command,
      "Examples:\n"
      "  distbench import jaeger traces.json -o mine.config --fidelity\n"
      "  distbench import otlp traces.jsonl --sampled_fraction=0.01 \\\n"
      "      -o mine.config\n"
      "  distbench import chakra step.*.et -o job.config\n"
      "  distbench check_test mine.config");
  cli::SetBody(command, chosen,
               [&command, flags] { return ImportFiles(command, *flags); });
}

const base::Plugin<base::Product> kProduct(
    "trace_import", new base::Product{"Makes tests from recorded traces"});

const base::Plugin<Command> kCommand("import", new Command{HelpSection::kTests,
                                                           AddImportCommand});

}  // namespace
}  // namespace distbench::trace_import
