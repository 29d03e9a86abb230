// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/client/test_client.h"
#include "distbench/products/all_pairs/page_files.h"
#include "distbench/products/all_pairs/pair_tests.h"
#include "distbench/products/all_pairs/pairs.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/results/run_failure.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"

namespace distbench::all_pairs {
namespace {

const base::Plugin<base::Product> kProduct(
    "all_pairs", new base::Product{"Measures all pairs of a cluster, and names "
                                   "those that are out of line"});

// ---- The command ------------------------------------------------------------

constexpr int kMaxNodes = 10'000;
constexpr int64_t kMaxBytes = 2'147'483'647;

struct AllPairsFlags {
  std::string test_sequencer;
  security::TlsFiles tls;
  std::optional<int> nodes;  // all of them
  PairOptions options;
  cli::TestOutputFlags output;
  std::string label;
  bool no_samples = false;
  bool quiet = false;
};

absl::StatusOr<int> AllPairs(AllPairsFlags& flags, base::StopSignals& stop) {
  const absl::Status writable = cli::CheckOutput(flags.output);
  if (!writable.ok()) return writable;
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  if (flags.nodes.has_value()) {
    flags.options.node_count = *flags.nodes;
  } else {
    const absl::StatusOr<GetStatusResponse> status = (*client)->GetStatus();
    if (!status.ok()) return status.status();
    flags.options.node_count = status->nodes_size();
  }
  absl::StatusOr<TestSequence> tests = MakePairTests(flags.options);
  if (!tests.ok()) return tests.status();
  if (flags.no_samples) cli::LeaveOutSamples(*tests);
  RunTestsRequest request;
  *request.mutable_test_sequence() = *tests;
  request.set_label(flags.label);
  const client::RunProgress progress = flags.quiet
                                           ? client::RunProgress::kNone
                                           : client::RunProgress::kWithRunId;
  const client::ConsoleRun run = client::RunOnConsole(
      **client, request, progress, cli::PrinterOf(flags.output), stop);
  return cli::FinishRun(run, flags.output);
}

void AddAllPairsCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "all_pairs", "Measures all pairs of a cluster's nodes");
  auto flags = std::make_shared<AllPairsFlags>();
  cli::AddTestSequencerFlag(command, flags->test_sequencer);
  cli::AddTlsFlags(command, flags->tls);
  cli::AddNumberFlag(command, "--nodes", flags->nodes, 2, kMaxNodes, "N",
                     "Use so many nodes; default: all that are registered");
  cli::AddTextFlag(command, "--protocol", flags->options.protocol, "DRIVER",
                   "Protocol driver");
  cli::AddNumberFlag(command, "--rate", flags->options.rate_per_second, 0.001,
                     100'000.0, "N",
                     "RPCs per second of each pair in each direction; less if\n"
                     "a node would send more than 2000 per second in all");
  cli::AddNumberFlag(command, "--request_size", flags->options.request_size, 1,
                     kMaxBytes, "BYTES", "Size of requests");
  cli::AddNumberFlag(command, "--response_size", flags->options.response_size,
                     1, kMaxBytes, "BYTES", "Size of responses");
  cli::AddDurationFlag(command, "--duration", flags->options.duration,
                       "How long each of the two tests measures");
  cli::AddSwitch(command, "--no_samples", flags->no_samples,
                 "Keep no samples of single RPCs. The result is smaller\n"
                 "and has the same pairs");
  cli::AddTextFlag(command, "--label", flags->label, "TEXT",
                   "Text kept with the run, shown by distbench runs list");
  cli::AddResultFlags(command, flags->output);
  cli::AddQuietFlag(command, flags->quiet);
  cli::SetFooter(
      command,
      "Runs two tests: in the first, each node calls one other after the\n"
      "other at random times; in the second, all nodes call all others at the\n"
      "same moments. Prints the matrix of the pairs by host and by each\n"
      "attribute of nodes that several share, such as rack=3, and the hosts\n"
      "and pairs that are out of line. See docs/all_pairs.md.\n\n"
      "Example:\n"
      "  distbench all_pairs --test_sequencer=host1:10000 \\\n"
      "      --outfile=pairs.pb.gz --binary_output");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return AllPairs(*flags, stop);
  });
}

const base::Plugin<cli::Command> kCommand(
    "all_pairs", new cli::Command{cli::HelpSection::kRuns, AddAllPairsCommand});

// ---- Reports ----------------------------------------------------------------

void ListCells(const TestResult& result, report::RowSink sink) {
  for (PairMatrix& matrix : MeasurePairs(result).matrices) {
    for (PairTable::Row& cell : matrix.cells) sink(cell);
  }
}

const report::ReportTable kCells = {PairTable::descriptor(), ListCells};

// In JSON and on the page. More of them are no news.
constexpr size_t kMaxOutliers = 1000;

base::Json ValueOf(const TestResult& result, const report::JsonLimits& limits) {
  if (!IsAllPairs(result)) return nullptr;
  ReportedPairs reported;
  MeasuredPairs pairs = MeasurePairs(result);
  const size_t count = pairs.outliers.size();
  pairs.outliers.resize(std::min(count, kMaxOutliers));
  reported.set_outliers_left_out(
      static_cast<int64_t>(count - pairs.outliers.size()));
  for (ReportedPairs::Outlier& outlier : pairs.outliers) {
    *reported.add_outliers() = std::move(outlier);
  }
  if (pairs.usual.p50_ns > 0) reported.set_usual_p50_ns(pairs.usual.p50_ns);
  if (pairs.usual.p99_ns > 0) reported.set_usual_p99_ns(pairs.usual.p99_ns);
  reported.set_is_compared(pairs.is_compared);
  reported.set_names_are(pairs.are_nodes ? "nodes" : "hosts");
  reported.set_latency(PairLatencyName(pairs.latency));
  {
    // The smallest matrices first: what is left out of a page is of the
    // largest.
    report::TableRows cells(limits.max_part_rows, reported.mutable_cells());
    absl::c_stable_sort(pairs.matrices, [](const auto& a, const auto& b) {
      return a.cells.size() < b.cells.size();
    });
    for (PairMatrix& matrix : pairs.matrices) {
      for (PairTable::Row& cell : matrix.cells) cells.Add(cell);
    }
  }
  return base::MessageJson(reported);
}

std::vector<std::string> SummaryOf(const TestResult& result) {
  return IsAllPairs(result) ? PairLines(result) : std::vector<std::string>();
}

// The run, its verdict, and what makes its numbers doubtful.
std::string Heading(const report::TestRun& run) {
  const TestResult& result = *run.result;
  const report::TestTotals totals = report::AddUp(result);
  std::string text = absl::StrCat(
      report::MarkedName(base::PrintableLine(run.name), result),
      report::RunNumber(run), ": ", report::RunVerdict(result, totals), "\n");
  const auto add = [&](const std::string& what, const std::string& message) {
    absl::StrAppend(&text, "  ", what, ": ", base::PrintableLine(message),
                    "\n");
  };
  if (const std::optional<std::string> failure = results::FailureOf(result)) {
    add("failed", *failure);
  }
  for (const report::FindingKind& kind :
       report::KindsOf(report::FindingsOf(result, totals))) {
    if (kind.severity == Finding::NOTE) continue;
    const std::string code =
        kind.code.empty() ? "" : absl::StrCat(" (", kind.code, ")");
    for (const std::string& message : kind.messages) {
      add(absl::StrCat(report::SeverityName(kind.severity), code), message);
    }
  }
  return text;
}

// Of any test whose instances call others of their service.
absl::Status WriteText(const report::ReportInput& input,
                       const report::ReportFlagValues&, report::ByteSink sink) {
  bool has_pairs = false;
  for (const report::TestRun& run : input.runs) {
    const std::vector<std::string> lines = PairLines(*run.result);
    if (lines.empty()) continue;
    has_pairs = true;
    sink(Heading(run));
    for (const std::string& line : lines) sink(absl::StrCat(line, "\n"));
  }
  if (has_pairs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no test has RPCs between instances of the same service; measure all "
      "pairs by distbench all_pairs, or by the pattern clique");
}

const base::Plugin<report::TestKey> kKey("all_pairs", new report::TestKey{
                                                          {"peers"}, ValueOf});

const base::Plugin<report::PagePart> kPage("all_pairs",
                                           new report::PagePart{{"findings"},
                                                                kAllPairsHtml,
                                                                kAllPairsJs});

const base::Plugin<report::SummarySection> kSection(
    "All pairs", new report::SummarySection{{"Global summary", 1}, SummaryOf});

const base::Plugin<report::FindingRule> kFindings(
    "all_pairs", new report::FindingRule{JudgePairs, {"pair_outliers"}});

const base::Plugin<report::CsvTable> kTable(
    "all_pairs",
    new report::CsvTable{{"peers", 0},
                         "a row per client and server: hosts, or groups of "
                         "them",
                         report::WriteTableOfRuns<kCells>});

const base::Plugin<report::ReportFormat> kFormat(
    "all_pairs", new report::ReportFormat{
                     "pairs of hosts, and who is out of line", WriteText});

}  // namespace
}  // namespace distbench::all_pairs
