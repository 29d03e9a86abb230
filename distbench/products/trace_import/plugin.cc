// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
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
#include "distbench/products/trace_import/chakra/nodes.h"
#include "distbench/products/trace_import/chakra/rank_files.h"
#include "distbench/products/trace_import/chakra/rank_work.h"
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

  // Of jobs, which are not of spans.
  std::optional<int64_t> ranks;
  std::optional<int64_t> iterations;
  std::optional<int64_t> warmup_iterations;
};

// The format of what ranks of a job do, not of spans.
constexpr char kChakra[] = "chakra";

std::vector<std::string> AllFormats() {
  std::vector<std::string> formats = TraceFormats();
  formats.push_back(kChakra);
  return formats;
}

constexpr int64_t kMaxTraceFileBytes = int64_t{4} << 30;

// Files are read one after the other, so that only one is in memory.
absl::StatusOr<SpanSet> ReadFiles(const ImportFlags& flags) {
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

// The work of one rank is held, not its nodes.
absl::StatusOr<RankWork> ReadRank(const std::string& file, int64_t max_nodes) {
  const absl::StatusOr<std::string> text =
      base::ReadFile(file, kMaxChakraBytes);
  if (!text.ok()) return text.status();
  const absl::StatusOr<ChakraTrace> trace = ReadChakra(*text, max_nodes);
  absl::StatusOr<RankWork> work =
      trace.ok() ? WorkOf(*trace) : absl::StatusOr<RankWork>(trace.status());
  if (work.ok()) return work;
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", work.status().message()));
}

absl::StatusOr<JobImport> ImportRanks(const ImportFlags& flags) {
  const absl::StatusOr<std::vector<std::string>> files =
      FilesByRank(flags.files);
  if (!files.ok()) return files.status();
  std::vector<RankWork> works;
  for (const std::string& file : *files) {
    absl::StatusOr<RankWork> work = ReadRank(file, flags.max_spans);
    if (!work.ok()) return work.status();
    works.push_back(*std::move(work));
  }
  JobOptions options;
  options.ranks = flags.ranks.value_or(options.ranks);
  options.iterations = flags.iterations.value_or(options.iterations);
  options.warmup_iterations =
      flags.warmup_iterations.value_or(options.warmup_iterations);
  return ImportJob(works, options);
}

absl::StatusOr<Import> ImportSpans(const ImportFlags& flags) {
  absl::StatusOr<SpanSet> spans = ReadFiles(flags);
  if (!spans.ok()) return spans.status();
  return ImportTraces(*std::move(spans), flags.options);
}

// Flags that have an effect on some formats are refused for others.
absl::Status CheckFlags(const ImportFlags& flags) {
  const bool is_job = flags.format == kChakra;
  const ImportOptions& options = flags.options;
  const struct {
    const char* name;
    bool is_given;
    bool is_of_jobs;
  } all[] = {
      {"--ranks", flags.ranks.has_value(), true},
      {"--iterations", flags.iterations.has_value(), true},
      {"--warmup_iterations", flags.warmup_iterations.has_value(), true},
      {"--keep_names", options.naming.keep_names, false},
      {"--pseudonym_key", !options.naming.key.empty(), false},
      {"--sampled_fraction", options.sampled_fraction != 1, false},
      {"--failures", options.with_failures, false},
      {"--fidelity", options.measure_fidelity, false},
  };
  for (const auto& flag : all) {
    if (!flag.is_given || flag.is_of_jobs == is_job) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag.name, " has no effect on traces of the format ",
                     flags.format, "; remove it"));
  }
  return absl::OkStatus();
}

// Writes the config and what is said about it.
absl::Status WriteImport(const std::string& config, const std::string& text,
                         const std::string& json, const ImportFlags& flags) {
  absl::Status status = cli::WriteReport(flags.output, config);
  if (!status.ok()) return status;
  if (flags.report.empty()) {
    std::cerr << text << std::flush;
  } else if (status = cli::WriteReport(flags.report, text); !status.ok()) {
    return status;
  }
  if (flags.json_report.empty()) return absl::OkStatus();
  return cli::WriteReport(flags.json_report, json);
}

absl::StatusOr<int> ImportFiles(const ImportFlags& flags) {
  const std::vector<std::string> formats = AllFormats();
  if (!absl::c_linear_search(formats, flags.format)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no trace format \"", flags.format,
                     "\"; give one of ", absl::StrJoin(formats, ", ")));
  }
  absl::Status status = CheckFlags(flags);
  if (!status.ok()) return status;
  if (flags.format == kChakra) {
    const absl::StatusOr<JobImport> import = ImportRanks(flags);
    if (!import.ok()) return import.status();
    status =
        WriteImport(import->text, JobText(*import), JobJson(*import), flags);
  } else {
    const absl::StatusOr<Import> import = ImportSpans(flags);
    if (!import.ok()) return import.status();
    status = WriteImport(import->config.text, ImportText(*import),
                         ImportJson(*import), flags);
  }
  if (!status.ok()) return status;
  return report::kExitOk;
}

void AddJobFlags(CLI::App& command, ImportFlags& flags) {
  constexpr int64_t kMostIterations = 1'000'000'000;
  cli::AddNumberFlag(command, "--ranks", flags.ranks, 2, kMaxRanks, "N",
                     "Of chakra, with the file of one rank: so many ranks do\n"
                     "what it does");
  cli::AddNumberFlag(command, "--iterations", flags.iterations, 1,
                     kMostIterations, "N",
                     "Of chakra: how often ranks do what is in the trace;\n"
                     "default: 20");
  cli::AddNumberFlag(command, "--warmup_iterations", flags.warmup_iterations, 0,
                     kMostIterations, "N",
                     "Of chakra: iterations before these, which are not\n"
                     "measured; default: 2");
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
                     "Fail if there are more; a million takes about 0.5 GB.\n"
                     "Of chakra: nodes of a rank");
  cli::AddSwitch(command, "--fidelity", flags->options.measure_fidelity,
                 "Run the config on simulated time, and report how much its\n"
                 "traffic is like that of the traces");
  AddJobFlags(command, *flags);
  cli::SetFooter(
      command,
      "Examples:\n"
      "  distbench import jaeger traces.json -o mine.config --fidelity\n"
      "  distbench import otlp traces.jsonl --sampled_fraction=0.01 \\\n"
      "      -o mine.config\n"
      "  distbench import chakra step.*.et -o job.config\n"
      "  distbench check_test mine.config");
  cli::SetBody(command, chosen, [flags] { return ImportFiles(*flags); });
}

const base::Plugin<base::Product> kProduct(
    "trace_import", new base::Product{"Makes tests from recorded traces"});

const base::Plugin<Command> kCommand("import", new Command{HelpSection::kTests,
                                                           AddImportCommand});

}  // namespace
}  // namespace distbench::trace_import
