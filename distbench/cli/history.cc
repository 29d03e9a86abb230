#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/cli/run_table.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/json.h"
#include "distbench/products/history/notes.h"
#include "distbench/products/history/result_source.h"
#include "distbench/products/history/text.h"
#include "distbench/report/findings/verdict.h"

namespace distbench::cli {

namespace {

struct HistoryFlags {
  std::string folder;
  history::ResultQuery query;
  std::vector<std::string> attributes;  // NAME=VALUE
  std::string rpc;
  std::string metric;
  std::string format = "text";
  std::string result_id;
  std::string note;
};

// Opens an index in memory of all results in the folder, and says on stderr
// which files cannot be read.
absl::StatusOr<std::unique_ptr<history::HistoryIndex>> IndexFolder(
    const std::string& folder) {
  const absl::StatusOr<std::unique_ptr<history::ResultSource>> source =
      history::OpenResultFolder(folder);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::unique_ptr<history::HistoryIndex>> index =
      history::HistoryIndex::Open(
          {.index_path = "",
           .notes_path = absl::StrCat(folder, "/", history::kNotesFile)});
  if (!index.ok()) return index;
  const absl::StatusOr<std::vector<history::ResultEntry>> entries =
      (*source)->List();
  if (!entries.ok()) return entries.status();
  const absl::Status synchronised =
      (*index)->Synchronise(**source, *entries, [] { return false; }).status();
  if (!synchronised.ok()) return synchronised;
  const absl::StatusOr<std::vector<history::FileProblem>> problems =
      (*index)->Problems();
  if (!problems.ok()) return problems.status();
  for (const history::FileProblem& problem : *problems) {
    std::cerr << "distbench: left out: " << Printable(problem.problem) << '\n';
  }
  return index;
}

absl::Status ReadAttributes(HistoryFlags& flags) {
  for (const std::string& attribute : flags.attributes) {
    const size_t end = attribute.find('=');
    if (end == std::string::npos || end == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--attribute=", attribute, ": expected NAME=VALUE"));
    }
    flags.query.attributes[attribute.substr(0, end)] =
        attribute.substr(end + 1);
  }
  return absl::OkStatus();
}

int ListResults(history::HistoryIndex& index, HistoryFlags& flags) {
  const absl::Status valid = ReadAttributes(flags);
  if (!valid.ok()) return Fail(valid, report::kExitUsage);
  const absl::StatusOr<history::ResultPage> page = index.List(flags.query);
  if (!page.ok()) return Fail(page.status(), report::kExitUsage);
  std::cout << (flags.format == "json" ? history::ToJson(*page) + "\n"
                                       : history::ResultsText(*page))
            << std::flush;
  return report::kExitOk;
}

// All series that the flags select; INVALID_ARGUMENT if there are none.
absl::StatusOr<std::vector<history::SeriesSummary>> SelectSeries(
    const history::HistoryIndex& index, const HistoryFlags& flags) {
  absl::StatusOr<std::vector<history::SeriesSummary>> all =
      index.ListSeries(flags.query.test, flags.rpc);
  if (!all.ok()) return all;
  std::vector<history::SeriesSummary> selected;
  for (history::SeriesSummary& series : *all) {
    if (flags.metric.empty() || series.metric == flags.metric) {
      selected.push_back(std::move(series));
    }
  }
  if (!selected.empty()) return selected;
  std::string known = "there is no such series in the results";
  for (const history::SeriesSummary& series : *all) {
    absl::StrAppend(&known, "\n  ", Printable(series.rpc), ", ",
                    Printable(series.metric));
  }
  return absl::InvalidArgumentError(known);
}

int ShowTrend(history::HistoryIndex& index, HistoryFlags& flags) {
  const absl::StatusOr<std::vector<history::SeriesSummary>> selected =
      SelectSeries(index, flags);
  if (!selected.ok()) return Fail(selected.status(), report::kExitUsage);
  std::string json;
  for (const history::SeriesSummary& series : *selected) {
    const absl::StatusOr<history::Trend> trend = index.TrendOf(series.id);
    if (!trend.ok()) return Fail(trend.status(), report::kExitRunFailed);
    if (flags.format == "json") {
      absl::StrAppend(&json, json.empty() ? "" : ",\n",
                      history::ToJson(*trend));
    } else {
      std::cout << history::TrendText(*trend);
    }
  }
  if (flags.format == "json") std::cout << "[" << json << "]\n";
  std::cout << std::flush;
  return report::kExitOk;
}

int Note(history::HistoryIndex& index, HistoryFlags& flags) {
  const absl::Status status = index.SetNote(flags.result_id, flags.note);
  return status.ok() ? report::kExitOk : Fail(status, report::kExitUsage);
}

template <bool kIsAccepted>
int Accept(history::HistoryIndex& index, HistoryFlags& flags) {
  const absl::Status status = index.SetAccepted(flags.result_id, kIsAccepted);
  return status.ok() ? report::kExitOk : Fail(status, report::kExitUsage);
}

using HistoryAction = int (*)(history::HistoryIndex& index,
                              HistoryFlags& flags);

int Run(HistoryAction action, HistoryFlags& flags) {
  const absl::StatusOr<std::unique_ptr<history::HistoryIndex>> index =
      IndexFolder(flags.folder);
  if (!index.ok()) return Fail(index.status(), report::kExitUsage);
  return action(**index, flags);
}

CLI::App& AddAction(CLI::App& history, const std::string& name,
                    const std::string& description, HistoryAction action,
                    const std::shared_ptr<HistoryFlags>& flags,
                    CommandBody& chosen) {
  CLI::App& command = AddSubcommand(history, name, description);
  AddArgument(command, "DIR", flags->folder, "DIR",
              "Folder of results: those of run_tests, or the\n"
              "--results_dir of a test sequencer");
  Require(command, "DIR");
  SetBody(command, chosen, [action, flags] { return Run(action, *flags); });
  return command;
}

void AddFormat(CLI::App& command, HistoryFlags& flags) {
  AddChoiceFlag(command, "--format", flags.format, {"text", "json"},
                "text|json", "Output format");
}

void AddResult(CLI::App& command, HistoryFlags& flags) {
  AddArgument(command, "RESULT", flags.result_id, "RESULT",
              "The result's id, as `history list` shows it");
  Require(command, "RESULT");
}

void AddResultList(CLI::App& history, CommandBody& chosen) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App& command =
      AddAction(history, "list", "Lists results, the newest last", ListResults,
                flags, chosen);
  AddTextFlag(command, "--search", flags->query.search, "WORDS",
              "Only results whose label, test, file, run, attributes or\n"
              "hosts have words that begin so");
  AddTextFlag(command, "--test", flags->query.test, "NAME",
              "Only results of this test");
  AddTextFlag(command, "--label", flags->query.label, "TEXT",
              "Only results of runs with this label");
  AddTextFlag(command, "--host", flags->query.host, "NAME",
              "Only results measured on this host");
  AddRepeatedFlag(command, "--attribute", flags->attributes, "NAME=VALUE",
                  "Only results with this attribute of the test or its nodes");
  AddNumberFlag(command, "--limit", flags->query.limit, 1,
                history::kMaxPageSize, "COUNT", "Most results shown");
  AddFormat(command, *flags);
  SetFooter(command,
            "Example:\n"
            "  distbench history list results --search=nightly --limit=20");
}

void AddTrend(CLI::App& history, CommandBody& chosen) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App& command =
      AddAction(history, "trend", "Shows when a test's figures changed",
                ShowTrend, flags, chosen);
  AddTextFlag(command, "--test", flags->query.test, "NAME", "The test");
  Require(command, "--test");
  AddTextFlag(command, "--rpc", flags->rpc, "NAME", "Only this RPC");
  AddTextFlag(command, "--metric", flags->metric, "METRIC",
              "Only this metric, such as \"p99 response time\"");
  AddFormat(command, *flags);
  SetFooter(
      command,
      "Results that failed or are invalid are left out. All series of the\n"
      "test are judged together: the probability that any shows a change\n"
      "although there is none is 5 %.\n\n"
      "Example:\n"
      "  distbench history trend results --test=my_test --rpc=query");
}

void AddNote(CLI::App& history, CommandBody& chosen) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App& command = AddAction(history, "note", "Keeps a note about a result",
                                Note, flags, chosen);
  AddResult(command, *flags);
  SetFooter(command,
            "Notes are kept in DIR/distbench_notes.jsonl.\n\n"
            "Example:\n"
            "  distbench history note results 0123456789abcdef-0 'new switch'");
  AddArgument(command, "TEXT", flags->note, "TEXT",
              "The note; \"\" removes it");
  Require(command, "TEXT");
}

void AddAcceptance(CLI::App& history, const std::string& name,
                   const std::string& description, HistoryAction action,
                   CommandBody& chosen) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App& command =
      AddAction(history, name, description, action, flags, chosen);
  AddResult(command, *flags);
  SetFooter(
      command,
      absl::StrCat("Changes within 5 results of an accepted one are no longer\n"
                   "counted as changes of a series.\n\n"
                   "Example:\n  distbench history ",
                   name, " results 0123456789abcdef-0"));
}

}  // namespace

void AddHistoryCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "history",
                    "Lists kept results, and shows when their figures changed");
  AllowOneSubcommand(command);
  AddResultList(command, chosen);
  AddTrend(command, chosen);
  AddNote(command, chosen);
  AddAcceptance(command, "accept",
                "Says that the change at a result is known and wanted",
                Accept<true>, chosen);
  AddAcceptance(command, "unaccept", "Takes back accept", Accept<false>,
                chosen);
  SetFooter(command,
            "Examples:\n"
            "  distbench history list results\n"
            "  distbench history trend results --test=my_test");
}

}  // namespace distbench::cli
