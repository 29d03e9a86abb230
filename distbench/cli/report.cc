// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/plugins.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/terminal.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/run_table.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/conservation.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/export/hdr_histogram.h"
#include "distbench/report/export/mpstat.h"
#include "distbench/report/export/openmetrics.h"
#include "distbench/report/export/traces.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/parts/placement.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/terminal/terminal_view.h"
#include "distbench/report/terminal/test_table.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/output_file.h"

namespace distbench::cli {

namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string format;  // empty: see DefaultFormat()
  std::string output;
  std::string table;
  std::string latency;
  bool check = false;
  report::RpcSelection selection;

  // Of the flags that products add.
  std::map<std::string, int> numbers;
  std::map<std::string, bool> switches;
};

report::ReportFlagValues ValuesOf(const ReportFlags& flags) {
  report::ReportFlagValues values(flags.numbers.begin(), flags.numbers.end());
  values.insert(flags.switches.begin(), flags.switches.end());
  return values;
}

// A report: what it is about, what it is to be, and where it goes.
struct Task {
  const report::ReportInput& input;
  const ReportFlags& flags;
  results::OutputFile& output;

  absl::Status Write(absl::string_view text) const {
    output.Write(text);
    return absl::OkStatus();
  }
};

// Writes what products print there.
void WriteTextParts(const Task& task, absl::string_view after) {
  for (const report::Placed<report::TextPart>& placed :
       report::InOrder<report::TextPart>(
           {report::kTextStart, report::kTextTests})) {
    if (placed.part == nullptr || placed.part->place.after != after) continue;
    task.output.Write(placed.part->text_of(task.input));
  }
}

// Writes a text for each run, and what products print before and after them.
absl::Status WriteRuns(
    const Task& task,
    absl::FunctionRef<std::string(const report::TestRun& run)> text_of) {
  WriteTextParts(task, report::kTextStart);
  for (const report::TestRun& run : task.input.runs) {
    task.output.Write(text_of(run));
  }
  WriteTextParts(task, report::kTextTests);
  return absl::OkStatus();
}

std::string TextOf(const report::TestRun& run) {
  std::string text = absl::StrCat(
      "Test: ", base::PrintableLine(report::MarkedName(run.name, *run.result)),
      report::RunNumber(run), "\n");
  for (const std::string& line : report::SummarizeTest(*run.result)) {
    absl::StrAppend(&text, line, "\n");
  }
  const std::vector<report::Check> objectives =
      report::CheckObjectives(*run.result);
  if (!objectives.empty()) {
    absl::StrAppend(&text, "Objectives:\n", report::ChecksText(objectives));
  }
  return text;
}

absl::Status WriteText(const Task& task) { return WriteRuns(task, TextOf); }

// If there are several tests. The runs of searches are no tests of their own.
void WriteTestTable(const Task& task) {
  std::vector<report::TestRow> rows;
  for (const report::TestRun& run : task.input.runs) {
    if (report::HasChosenLoad(run)) continue;
    rows.push_back(report::RowOf(*run.result));
    rows.back().test = absl::StrCat(report::MarkedName(run.name, *run.result),
                                    report::RunNumber(run));
  }
  if (rows.size() < 2) return;
  task.output.Write(absl::StrCat("\n", report::TestTable(rows)));
}

absl::Status WriteTerminal(const Task& task) {
  const base::Terminal terminal = task.flags.output.empty()
                                      ? base::TerminalOf(STDOUT_FILENO)
                                      : base::Terminal();
  const absl::Status status = WriteRuns(task, [&](const report::TestRun& run) {
    return report::TerminalView(*run.result,
                                {.terminal = terminal,
                                 .name_suffix = report::RunNumber(run),
                                 .flag_of_lists = "--format=text"});
  });
  WriteTestTable(task);
  return status;
}

absl::Status WriteCsv(const Task& task) {
  const std::string& name = task.flags.table;
  const auto sink = [&](absl::string_view bytes) { task.output.Write(bytes); };
  if (const auto* table = base::Plugins<report::CsvTable>::Find(name)) {
    return table->write(task.input, ValuesOf(task.flags), sink);
  }
  report::RenderCsv(task.input.runs,
                    report::TableNamed(name.empty() ? "rpcs" : name), sink);
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

// One text, of the selected RPC.
template <std::string (*render)(const report::SelectedRpc& rpc)>
absl::Status WriteRpc(const Task& task) {
  const absl::StatusOr<report::SelectedRpc> rpc =
      report::SelectRpc(task.input.runs, SelectionOf(task.flags));
  if (!rpc.ok()) return rpc.status();
  return task.Write(render(*rpc));
}

// Traces are written while they are found.
template <absl::Status (*render)(absl::Span<const report::TestRun> runs,
                                 report::ByteSink sink)>
absl::Status WriteTraces(const Task& task) {
  return render(task.input.runs,
                [&](absl::string_view bytes) { task.output.Write(bytes); });
}

// One text, of the runs alone.
template <std::string (*render)(absl::Span<const report::TestRun> runs)>
absl::Status WriteOneText(const Task& task) {
  return task.Write(render(task.input.runs));
}

// One of the core's own.
struct OwnFormat {
  absl::string_view description;
  absl::Status (*write)(const Task& task);
};

const std::map<std::string, OwnFormat>& OwnFormats() {
  static const auto* const formats = new std::map<std::string, OwnFormat>{
      {"text", {"summaries, which programs can parse", WriteText}},
      {"terminal", {"what matters most, for people", WriteTerminal}},
      {"json",
       {"everything but samples, for programs",
        [](const Task& task) {
          return task.Write(report::RenderJson(task.input));
        }}},
      {"csv", {"one table; see --table", WriteCsv}},
      {"html",
       {"charts on one page",
        [](const Task& task) {
          return task.Write(report::RenderHtml(task.input));
        }}},
      {"hdr",
       {"HdrHistogram's percentile output of one RPC",
        WriteRpc<report::RenderHdr>}},
      {"hlog",
       {"HdrHistogram's interval log of one RPC",
        WriteRpc<report::RenderHlog>}},
      {"trace",
       {"RPC traces for ui.perfetto.dev",
        WriteTraces<report::RenderTraceEvents>}},
      {"otlp",
       {"RPC traces for OpenTelemetry and Jaeger",
        WriteTraces<report::RenderOtlp>}},
      {"openmetrics",
       {"metrics for gateways of Prometheus",
        WriteOneText<report::RenderOpenMetrics>}},
      {"mpstat",
       {"the use of CPUs as mpstat prints it",
        WriteOneText<report::RenderMpstat>}},
  };
  return *formats;
}

absl::Status WriteFormat(const Task& task) {
  const ReportFlags& flags = task.flags;
  if (const auto* format =
          base::Plugins<report::ReportFormat>::Find(flags.format)) {
    return format->write(
        task.input, ValuesOf(flags),
        [&](absl::string_view bytes) { task.output.Write(bytes); });
  }
  return OwnFormats().at(flags.format).write(task);
}

// Instead of a report: a line for each law that its numbers break, and how many
// runs were checked.
int CheckLaws(absl::Span<const report::TestRun> runs,
              results::OutputFile& output) {
  size_t count = 0;
  for (const report::TestRun& run : runs) {
    for (const std::string& broken :
         report::BrokenLaws(report::DeriveTest(run))) {
      ++count;
      output.Write(absl::StrCat(run.source, ": ", base::PrintableLine(run.name),
                                report::RunNumber(run), ": ",
                                base::PrintableLine(broken), "\n"));
    }
  }
  output.Write(absl::StrCat(
      runs.size(), runs.size() == 1 ? " run" : " runs", " checked: ",
      count == 0 ? "the numbers agree with each other"
                 : absl::StrCat(count,
                                " contradictions; please report them, "
                                "with the result"),
      "\n"));
  const absl::Status status = output.Commit();
  if (!status.ok()) return Fail(status, report::kExitUsage);
  return count == 0 ? report::kExitOk : report::kExitRunFailed;
}

using Descriptions = std::vector<std::pair<std::string, absl::string_view>>;

// In the order of their names.
Descriptions AllFormats() {
  Descriptions formats;
  for (const auto& [name, format] : OwnFormats()) {
    formats.emplace_back(name, format.description);
  }
  for (const auto& [name, format] :
       base::Plugins<report::ReportFormat>::All()) {
    formats.emplace_back(name, format->description);
  }
  absl::c_sort(formats);
  return formats;
}

std::vector<std::string> NamesOf(const Descriptions& all) {
  std::vector<std::string> names;
  for (const auto& [name, description] : all) names.push_back(name);
  return names;
}

Descriptions AllTables() {
  Descriptions own;
  for (const report::ReportTable& table : report::AllTables()) {
    own.emplace_back(table.name(), table.about());
  }
  Descriptions tables;
  auto next = own.begin();
  for (const report::Placed<report::CsvTable>& placed :
       report::InOrder<report::CsvTable>(NamesOf(own))) {
    if (placed.part == nullptr) {
      tables.push_back(*next++);
    } else {
      tables.emplace_back(placed.name, placed.part->description);
    }
  }
  return tables;
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
  if (flags.check && flags.format != "text") {
    return absl::InvalidArgumentError(
        absl::StrCat("--check prints what it found and no report; leave out "
                     "--format=",
                     flags.format));
  }
  const FormatList of_one_rpc = {"hdr", "hlog"};
  absl::Status status = check("--table", !flags.table.empty(), {"csv"});
  status.Update(check("--test", !flags.selection.test.empty(), of_one_rpc));
  status.Update(check("--rpc", !flags.selection.rpc.empty(), of_one_rpc));
  status.Update(check("--latency", !flags.latency.empty(), of_one_rpc));
  for (const auto& [name, value] : ValuesOf(flags)) {
    if (value == 0) continue;
    status.Update(base::Plugins<report::ReportFlag>::Find(name)->check(
        flags.format, flags.table));
  }
  return status;
}

// The format for who reads the output, if none is asked for.
std::string DefaultFormat(const ReportFlags& flags) {
  const bool for_people = !flags.check && flags.output.empty() &&
                          base::TerminalOf(STDOUT_FILENO).is_terminal;
  return for_people ? "terminal" : "text";
}

int Report(ReportFlags flags) {
  if (flags.format.empty()) flags.format = DefaultFormat(flags);
  absl::Status status = CheckReportFlags(flags);
  if (!status.ok()) return Fail(status, report::kExitUsage);
  const absl::StatusOr<std::vector<report::SourcedResults>> results =
      ReadResultFiles(flags.results);
  if (!results.ok()) return Fail(results.status(), report::kExitUsage);
  const auto output = OpenReport(flags.output);
  if (!output.ok()) return Fail(output.status(), report::kExitUsage);

  const report::ReportInput input = report::InputOf(*results);
  if (flags.check) return CheckLaws(input.runs, **output);
  status = WriteFormat({input, flags, **output});
  if (status.ok()) status = (*output)->Commit();
  if (!status.ok()) return Fail(status, report::kExitUsage);
  return ExitCodeForAll(*results);
}

std::string HelpOf(absl::string_view title, const Descriptions& all) {
  std::string help(title);
  for (const auto& [name, description] : all) {
    absl::StrAppend(&help, "\n  ", name, ": ", description);
  }
  return help;
}

// Adds the flags of products.
void AddPartFlags(CLI::App& command, ReportFlags& flags) {
  for (const report::Placed<report::ReportFlag>& placed :
       report::InOrder<report::ReportFlag>({})) {
    const std::string help(placed.part->help);
    if (placed.part->placeholder.empty()) {
      AddSwitch(command, placed.name, flags.switches[placed.name], help);
    } else {
      AddNumberFlag(command, placed.name, flags.numbers[placed.name], 1,
                    std::numeric_limits<int>::max(),
                    std::string(placed.part->placeholder), help);
    }
  }
}

}  // namespace

void AddReportCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "report", "Shows results as text, tables, charts or traces");
  auto flags = std::make_shared<ReportFlags>();
  AddArguments(command, "RESULT", flags->results, "RESULT",
               "Result files (text or binary, compressed or not) or\n"
               "directories with *.pb and *.pb.gz files, or the\n"
               "--results_dir of a test sequencer");
  Require(command, "RESULT");
  AddChoiceFlag(command, "--format", flags->format, NamesOf(AllFormats()),
                "FORMAT",
                HelpOf("Output format; default: terminal on a terminal, and\n"
                       "text elsewhere",
                       AllFormats()));
  AddOutputFlag(command, "-o", flags->output,
                "Write the report here; default: standard output");
  AddChoiceFlag(command, "--table", flags->table, NamesOf(AllTables()), "TABLE",
                HelpOf("Table for --format=csv; default: rpcs", AllTables()));
  AddTextFlag(command, "--test", flags->selection.test, "TEST",
              "With --format=hdr or hlog: the test, if there are several");
  AddTextFlag(command, "--rpc", flags->selection.rpc, "RPC",
              "With --format=hdr or hlog: the RPC, if there are several");
  AddChoiceFlag(command, "--latency", flags->latency, {"service", "response"},
                "service|response",
                "With --format=hdr or hlog: service or response time;\n"
                "default: response time if it was measured");
  AddSwitch(command, "--check", flags->check,
            "Instead of a report: check that its numbers agree with each\n"
            "other, such as totals with their parts. Exits 3 if not");
  AddPartFlags(command, *flags);
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
