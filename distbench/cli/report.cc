#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/products/blame/blame_text.h"
#include "distbench/products/protection/report/protection_text.h"
#include "distbench/products/search/benchpress/benchpress.h"
#include "distbench/products/search/benchpress/instance_report.h"
#include "distbench/products/stacks/stacks_text.h"
#include "distbench/report/export/hdr.h"
#include "distbench/report/export/hlog.h"
#include "distbench/report/export/mpstat.h"
#include "distbench/report/export/openmetrics.h"
#include "distbench/report/export/otlp.h"
#include "distbench/report/export/rpc_selection.h"
#include "distbench/report/export/trace_events.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/simulated_runs.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"
#include "distbench/report/tables/numa_table.h"
#include "distbench/report/tables/protection_table.h"
#include "distbench/report/tables/search_table.h"
#include "distbench/report/tables/table.h"
#include "distbench/report/text/search_text.h"
#include "distbench/report/text/text_summary.h"

namespace distbench::cli {

namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string format = "text";
  std::string output;
  std::string table;
  std::string latency;
  report::RpcSelection selection;
  bool strict_legacy = false;
  int instance = 0;  // 0: all
};

constexpr char kSearchTable[] = "search";

// The results to report on.
struct Input {
  std::vector<report::TestRun> runs;
  std::vector<report::SourcedSearch> searches;
};

absl::Status WriteText(const Input& input, const ReportFlags&,
                       ReportOutput& output) {
  for (const report::SourcedSearch& search : input.searches) {
    for (const std::string& line : report::SummarizeSearch(*search.report)) {
      output.Write(absl::StrCat(line, "\n"));
    }
  }
  for (const report::TestRun& run : input.runs) {
    // Numbered as on the HTML page.
    const std::string number =
        run.repetition > 0 ? absl::StrCat(" #", run.repetition + 1) : "";
    output.Write(absl::StrCat(
        "Test: ", report::MarkedName(run.name, *run.result), number, "\n"));
    for (const std::string& line : report::SummarizeTest(*run.result)) {
      output.Write(absl::StrCat(line, "\n"));
    }
  }
  for (const NumaComparison* comparison :
       report::NumaComparisonsOf(input.runs)) {
    output.Write(report::RenderNumaComparison(*comparison));
  }
  output.Write(protection::ProtectionText(input.runs));
  return absl::OkStatus();
}

absl::Status WriteJson(const Input& input, const ReportFlags&,
                       ReportOutput& output) {
  output.Write(report::RenderJson(input.runs, {}, input.searches));
  return absl::OkStatus();
}

absl::Status WriteHtml(const Input& input, const ReportFlags&,
                       ReportOutput& output) {
  output.Write(report::RenderHtml(input.runs, input.searches));
  return absl::OkStatus();
}

// FeedSim's columns come first, so the columns that begin other tables are left
// out.
void WriteSearchTable(const Input& input, ReportOutput& output) {
  output.Write(report::SearchTableHeader() + "\n");
  for (const report::SourcedSearch& search : input.searches) {
    for (const SearchProbe& probe : search.report->probes()) {
      output.Write(report::SearchTableRows(*search.report, probe));
    }
  }
}

absl::Status WriteCsv(const Input& input, const ReportFlags& flags,
                      ReportOutput& output) {
  if (flags.table == kSearchTable) {
    WriteSearchTable(input, output);
    return absl::OkStatus();
  }
  for (const report::ProtectionTable* table : report::ProtectionTables()) {
    if (table->name != flags.table) continue;
    report::RenderProtectionCsv(
        input.runs, *table,
        [&](absl::string_view bytes) { output.Write(bytes); });
  }
  for (const report::ReportTable* table : report::AllTables()) {
    if (table->name != (flags.table.empty() ? "rpcs" : flags.table)) continue;
    report::RenderCsv(input.runs, *table,
                      [&](absl::string_view bytes) { output.Write(bytes); });
  }
  return absl::OkStatus();
}

report::RpcSelection SelectionOf(const ReportFlags& flags) {
  report::RpcSelection selection = flags.selection;
  if (flags.latency == "service")
    selection.latency = report::LatencyKind::kService;
  if (flags.latency == "response")
    selection.latency = report::LatencyKind::kResponse;
  return selection;
}

absl::Status WriteHdr(const Input& input, const ReportFlags& flags,
                      ReportOutput& output) {
  const absl::StatusOr<report::SelectedLatency> latency =
      report::SelectLatency(input.runs, SelectionOf(flags));
  if (!latency.ok()) return latency.status();
  output.Write(report::RenderHdr(*latency));
  return absl::OkStatus();
}

absl::Status WriteHlog(const Input& input, const ReportFlags& flags,
                       ReportOutput& output) {
  const absl::StatusOr<report::SelectedRpc> rpc =
      report::SelectRpc(input.runs, SelectionOf(flags));
  if (!rpc.ok()) return rpc.status();
  output.Write(report::RenderHlog(*rpc));
  return absl::OkStatus();
}

// Reports each result that holds a search; several reports form a list.
absl::Status WriteBenchpress(const Input& input, const ReportFlags& flags,
                             ReportOutput& output) {
  const absl::StatusOr<std::string> json = search::RenderBenchpress(
      input.searches, input.runs, {.strict_legacy = flags.strict_legacy});
  if (!json.ok()) return json.status();
  output.Write(*json);
  return absl::OkStatus();
}

absl::Status WriteTrace(const Input& input, const ReportFlags&,
                        ReportOutput& output) {
  return report::RenderTraceEvents(
      input.runs, [&](absl::string_view bytes) { output.Write(bytes); });
}

absl::Status WriteBlame(const Input& input, const ReportFlags&,
                        ReportOutput& output) {
  output.Write(blame::BlameText(input.runs));
  return absl::OkStatus();
}

template <stacks::StacksFormat format>
absl::Status WriteStacks(const Input& input, const ReportFlags&,
                         ReportOutput& output) {
  const absl::StatusOr<std::string> text =
      stacks::StacksText(input.runs, format);
  if (!text.ok()) return text.status();
  output.Write(*text);
  return absl::OkStatus();
}

absl::Status WriteOtlp(const Input& input, const ReportFlags&,
                       ReportOutput& output) {
  return report::RenderOtlp(
      input.runs, [&](absl::string_view bytes) { output.Write(bytes); });
}

absl::Status WriteOpenMetrics(const Input& input, const ReportFlags&,
                              ReportOutput& output) {
  output.Write(report::RenderOpenMetrics(input.runs));
  return absl::OkStatus();
}

absl::Status WriteMpstat(const Input& input, const ReportFlags&,
                         ReportOutput& output) {
  output.Write(report::RenderMpstat(input.runs));
  return absl::OkStatus();
}

struct ReportFormat {
  absl::string_view description;
  absl::Status (*write)(const Input&, const ReportFlags&, ReportOutput&);
};

const std::map<std::string, ReportFormat>& ReportFormats() {
  static const auto* const formats = new std::map<std::string, ReportFormat>{
      {"text", {"summaries", WriteText}},
      {"json", {"everything but samples, for programs", WriteJson}},
      {"csv", {"one table; see --table", WriteCsv}},
      {"html", {"charts on one page", WriteHtml}},
      {"hdr", {"HdrHistogram's percentile output of one RPC", WriteHdr}},
      {"hlog", {"HdrHistogram's interval log of one RPC", WriteHlog}},
      {"benchpress",
       {"a search as DCPerf's FeedSim reports it", WriteBenchpress}},
      {"blame", {"who is to blame for the tail, from traces", WriteBlame}},
      {"stacks",
       {"protocol drivers under the same traffic",
        WriteStacks<stacks::StacksFormat::kText>}},
      {"stacks_markdown",
       {"the same for comments and wikis",
        WriteStacks<stacks::StacksFormat::kMarkdown>}},
      {"trace", {"RPC traces for ui.perfetto.dev", WriteTrace}},
      {"otlp", {"RPC traces for OpenTelemetry and Jaeger", WriteOtlp}},
      {"openmetrics", {"metrics for gateways of Prometheus", WriteOpenMetrics}},
      {"mpstat", {"the use of CPUs as mpstat prints it", WriteMpstat}},
  };
  return *formats;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const auto& [name, format] : ReportFormats()) names.push_back(name);
  return names;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const report::ReportTable* table : report::AllTables()) {
    names.emplace_back(table->name);
  }
  for (const report::ProtectionTable* table : report::ProtectionTables()) {
    names.emplace_back(table->name);
  }
  names.push_back(kSearchTable);
  return names;
}

// Rejects flags that apply to another format only.
absl::Status CheckReportFlags(const ReportFlags& flags) {
  using FormatList = std::vector<std::string>;
  const auto check = [&](const char* flag, bool is_given,
                         const FormatList& formats) {
    if (!is_given || absl::c_linear_search(formats, flags.format)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        flag, " goes with --format=", absl::StrJoin(formats, " or --format="),
        ", not with --format=", flags.format));
  };
  const FormatList of_one_rpc = {"hdr", "hlog"};
  absl::Status status = check("--table", !flags.table.empty(), {"csv"});
  status.Update(check("--test", !flags.selection.test.empty(), of_one_rpc));
  status.Update(check("--rpc", !flags.selection.rpc.empty(), of_one_rpc));
  status.Update(check("--strict_legacy", flags.strict_legacy, {"benchpress"}));
  status.Update(check("--latency", !flags.latency.empty(), of_one_rpc));
  return status;
}

// --instance goes with what reports a search: its table, and benchpress.
absl::Status CheckInstance(const ReportFlags& flags) {
  const bool is_of_search =
      flags.format == "benchpress" ||
      (flags.format == "csv" && flags.table == kSearchTable);
  if (flags.instance == 0 || is_of_search) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--instance goes with --format=csv --table=search, or with "
      "--format=benchpress");
}

// The same searches, each as that of one instance; `reports` holds them.
absl::StatusOr<std::vector<report::SourcedSearch>> SearchesOfInstance(
    const std::vector<report::SourcedSearch>& searches, int instance,
    std::deque<SearchReport>& reports) {
  std::vector<report::SourcedSearch> own;
  for (const report::SourcedSearch& search : searches) {
    absl::StatusOr<SearchReport> report =
        search::ReportOfInstance(*search.report, instance);
    if (!report.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--instance: ", search.source, ": ",
                       std::string(report.status().message())));
    }
    reports.push_back(*std::move(report));
    own.push_back({search.source, &reports.back()});
  }
  return own;
}

int Report(const ReportFlags& flags) {
  absl::Status status = CheckReportFlags(flags);
  status.Update(CheckInstance(flags));
  if (!status.ok()) return Fail(status, report::kExitUsage);
  const absl::StatusOr<std::vector<report::SourcedResults>> results =
      ReadResultFiles(flags.results);
  if (!results.ok()) return Fail(results.status(), report::kExitUsage);
  std::deque<SearchReport> of_instance;
  absl::StatusOr<std::vector<report::SourcedSearch>> searches =
      report::ListSearches(*results);
  if (flags.instance > 0) {
    searches = SearchesOfInstance(*searches, flags.instance, of_instance);
  }
  if (!searches.ok()) return Fail(searches.status(), report::kExitUsage);
  absl::StatusOr<ReportOutput> output = ReportOutput::Open(flags.output);
  if (!output.ok()) return Fail(output.status(), report::kExitUsage);

  status = ReportFormats()
               .at(flags.format)
               .write({.runs = report::ListRuns(*results),
                       .searches = *std::move(searches)},
                      flags, *output);
  if (status.ok()) status = output->Finish();
  if (!status.ok()) return Fail(status, report::kExitUsage);
  return ExitCodeForAll(*results);
}

std::string FormatHelp() {
  std::string help = "Output format:";
  for (const auto& [name, format] : ReportFormats()) {
    absl::StrAppend(&help, "\n  ", name, ": ", format.description);
  }
  return help;
}

std::string TableHelp() {
  std::string help = "Table for --format=csv; default: rpcs";
  for (const report::ReportTable* table : report::AllTables()) {
    absl::StrAppend(&help, "\n  ", table->name, ": ", table->description);
  }
  for (const report::ProtectionTable* table : report::ProtectionTables()) {
    absl::StrAppend(&help, "\n  ", table->name, ": ", table->description);
  }
  absl::StrAppend(&help, "\n  ", kSearchTable, ": a row per probe of a search");
  return help;
}

}  // namespace

void AddReportCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "report", "Shows results as text, tables, charts or traces");
  auto flags = std::make_shared<ReportFlags>();
  AddArguments(command, "RESULT", flags->results, "RESULT",
               "Result files (text or binary, compressed or not) or\n"
               "directories with *.pb and *.pb.gz files");
  Require(command, "RESULT");
  AddChoiceFlag(command, "--format", flags->format, FormatNames(), "FORMAT",
                FormatHelp());
  AddTextFlag(command, "-o", flags->output, "FILE",
              "Write the report here; default: standard output");
  AddChoiceFlag(command, "--table", flags->table, TableNames(), "TABLE",
                TableHelp());
  AddTextFlag(command, "--test", flags->selection.test, "TEST",
              "With --format=hdr or hlog: the test, if there are several");
  AddTextFlag(command, "--rpc", flags->selection.rpc, "RPC",
              "With --format=hdr or hlog: the RPC, if there are several");
  AddChoiceFlag(command, "--latency", flags->latency, {"service", "response"},
                "service|response",
                "With --format=hdr or hlog: service or response time;\n"
                "default: response time if it was measured");
  AddSwitch(command, "--strict_legacy", flags->strict_legacy,
            "With --format=benchpress: only FeedSim's keys, and some\n"
            "numbers as strings, as FeedSim has them");
  AddNumberFlag(command, "--instance", flags->instance, 1,
                std::numeric_limits<int>::max(), "N",
                "Of a search with several copies of the system, only this\n"
                "one (from 1): with --format=benchpress, or --table=search");
  SetFooter(
      command,
      "Exits 3 if a run failed or its results are invalid.\n\n"
      "Examples:\n"
      "  distbench report results/my_test.pb.gz\n"
      "  distbench report base.pb.gz new.pb.gz --format=html -o report.html\n"
      "  distbench report my_test.pb.gz --format=csv --table=seconds");
  SetBody(command, chosen, [flags] { return Report(*flags); });
}

}  // namespace distbench::cli
