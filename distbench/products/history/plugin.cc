// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/base/printable_line.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/flags/flags.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/result_source.h"
#include "distbench/report/findings/findings.h"

namespace distbench::history {
namespace {

struct HistoryFlags {
  std::vector<std::string> folders;
  ResultQuery query;
  std::vector<std::string> attributes;  // NAME=VALUE
  std::string rpc;
  std::string metric;
  std::string format = "text";
  std::string result_id;
  std::string note;
};

// Opens an index in memory of all results in the folders, and says on stderr
// which files cannot be read.
absl::StatusOr<std::unique_ptr<HistoryIndex>> IndexFolders(
    const std::vector<std::string>& folders) {
  const absl::StatusOr<std::unique_ptr<ResultFolders>> source =
      OpenResultFolders(folders);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::unique_ptr<HistoryIndex>> index =
      HistoryIndex::Open({.notes_paths = (*source)->Notes()});
  if (!index.ok()) return index;
  const absl::StatusOr<std::vector<ResultEntry>> entries = (*source)->List();
  if (!entries.ok()) return entries.status();
  const absl::Status synchronised =
      (*index)->Synchronise(**source, *entries, [] { return false; });
  if (!synchronised.ok()) return synchronised;
  const FileProblems problems = (*index)->Problems();
  for (const FileProblem& problem : problems.files()) {
    std::cerr << "distbench: left out: "
              << base::PrintableLine(problem.problem()) << '\n';
  }
  return index;
}

absl::Status ListResults(HistoryIndex& index, HistoryFlags& flags) {
  for (const std::string& attribute : flags.attributes) {
    const absl::Status added = AddAttribute(attribute, flags.query);
    if (!added.ok()) return added;
  }
  const absl::StatusOr<ResultPage> page = index.List(flags.query);
  if (!page.ok()) return page.status();
  return cli::WriteReport(
      /*path=*/"",
      flags.format == "json" ? ToJson(*page) + "\n" : ResultsText(*page));
}

absl::Status ShowTrends(HistoryIndex& index, HistoryFlags& flags) {
  const bool is_json = flags.format == "json";
  std::vector<std::string> shown;
  std::string known;
  const SeriesList all = index.ListSeries(flags.query.test, flags.rpc);
  for (const SeriesSummary& series : all.series()) {
    absl::StrAppend(&known, "\n  ", base::PrintableLine(series.rpc()), ", ",
                    base::PrintableLine(series.metric()));
    if (!flags.metric.empty() && series.metric() != flags.metric) continue;
    const absl::StatusOr<Trend> trend = index.TrendOf(series.id());
    if (!trend.ok()) return trend.status();
    shown.push_back(is_json ? ToJson(*trend) : TrendText(*trend));
  }
  if (shown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no such series in the results", known));
  }
  return cli::WriteReport(
      /*path=*/"", is_json
                       ? absl::StrCat("[", absl::StrJoin(shown, ",\n"), "]\n")
                       : absl::StrJoin(shown, ""));
}

template <bool kIsAccepted>
absl::Status Accept(HistoryIndex& index, HistoryFlags& flags) {
  return index.SetAccepted(flags.result_id, kIsAccepted);
}

using HistoryAction = absl::Status (*)(HistoryIndex& index,
                                       HistoryFlags& flags);

// A subcommand, and the variables of its flags.
struct Action {
  CLI::App& command;
  HistoryFlags& flags;
};

Action AddAction(CLI::App& history, const std::string& name,
                 const std::string& description, HistoryAction action,
                 cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(history, name, description);
  const auto flags = std::make_shared<HistoryFlags>();
  cli::AddArguments(command, "DIR", flags->folders, "DIR",
                    "Folders of results: those of run_tests, or the\n"
                    "--results_dir of a test sequencer");
  cli::Require(command, "DIR");
  cli::SetBody(command, chosen, [action, flags]() -> absl::StatusOr<int> {
    const auto index = IndexFolders(flags->folders);
    if (!index.ok()) return index.status();
    const absl::Status status = action(**index, *flags);
    if (!status.ok()) return status;
    return report::kExitOk;
  });
  return {command, *flags};
}

void AddFormat(CLI::App& command, HistoryFlags& flags) {
  cli::AddChoiceFlag(command, "--format", flags.format, {"text", "json"},
                     "text|json", "Output format");
}

void AddResult(CLI::App& command, HistoryFlags& flags) {
  cli::AddArgument(command, "RESULT", flags.result_id, "RESULT",
                   "The result's id, as `history list` shows it");
  cli::Require(command, "RESULT");
}

void AddResultList(CLI::App& history, cli::CommandBody& chosen) {
  const auto [command, flags] = AddAction(
      history, "list", "Lists results, the newest last", ListResults, chosen);
  cli::AddTextFlag(command, "--search", flags.query.search, "WORDS",
                   "Only results whose label, test, file, run, attributes or\n"
                   "hosts have all of these words, or words with them");
  cli::AddTextFlag(command, "--test", flags.query.test, "NAME",
                   "Only results of this test");
  cli::AddTextFlag(command, "--label", flags.query.label, "TEXT",
                   "Only results of runs with this label");
  cli::AddTextFlag(command, "--host", flags.query.host, "NAME",
                   "Only results measured on this host");
  cli::AddRepeatedFlag(
      command, "--attribute", flags.attributes, "NAME=VALUE",
      "Only results with this attribute of the test or its nodes");
  cli::AddNumberFlag(command, "--limit", flags.query.limit, 1, kMaxPageSize,
                     "COUNT", "Most results shown");
  AddFormat(command, flags);
  cli::SetFooter(
      command,
      "Examples:\n"
      "  distbench history list results --search=nightly --limit=20\n"
      "  distbench history list /data/lab1 /data/lab2");
}

void AddTrend(CLI::App& history, cli::CommandBody& chosen) {
  const auto [command, flags] =
      AddAction(history, "trend", "Shows when a test's figures changed",
                ShowTrends, chosen);
  cli::AddTextFlag(command, "--test", flags.query.test, "NAME", "The test");
  cli::Require(command, "--test");
  cli::AddTextFlag(command, "--rpc", flags.rpc, "NAME", "Only this RPC");
  cli::AddTextFlag(command, "--metric", flags.metric, "METRIC",
                   "Only this metric, such as \"p99 response time\" or\n"
                   "metric:cpu");
  AddFormat(command, flags);
  cli::SetFooter(
      command,
      "Repeats in one file are one point: their median. Results that failed\n"
      "or are invalid are left out. All series of the test are judged\n"
      "together, after each of 200 nights: the probability that any ever "
      "shows\n"
      "a change although there is none is at most 5 %.\n\n"
      "Example:\n"
      "  distbench history trend results --test=my_test --rpc=query");
}

void AddNote(CLI::App& history, cli::CommandBody& chosen) {
  const auto [command, flags] = AddAction(
      history, "note", "Keeps a note about a result",
      [](HistoryIndex& index, HistoryFlags& flags) {
        return index.SetNote(flags.result_id, flags.note);
      },
      chosen);
  AddResult(command, flags);
  cli::SetFooter(
      command,
      "Notes are kept in distbench_notes.jsonl of the result's DIR.\n\n"
      "Example:\n"
      "  distbench history note results 0123456789abcdef-0 'new switch'");
  cli::AddArgument(command, "TEXT", flags.note, "TEXT",
                   "The note; \"\" removes it");
  cli::Require(command, "TEXT");
  flags::KeepLastArguments(command);
}

void AddAcceptance(CLI::App& history, const std::string& name,
                   const std::string& description, HistoryAction action,
                   cli::CommandBody& chosen) {
  const auto [command, flags] =
      AddAction(history, name, description, action, chosen);
  AddResult(command, flags);
  flags::KeepLastArguments(command);
  cli::SetFooter(
      command,
      absl::StrCat("Changes within 5 results of an accepted one are no longer\n"
                   "counted as changes of a series.\n\n"
                   "Example:\n  distbench history ",
                   name, " results 0123456789abcdef-0"));
}

void AddHistoryCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "history",
      "Lists kept results, and shows when their figures changed");
  cli::AllowOneSubcommand(command);
  AddResultList(command, chosen);
  AddTrend(command, chosen);
  AddNote(command, chosen);
  AddAcceptance(command, "accept",
                "Says that the change at a result is known and wanted",
                Accept<true>, chosen);
  AddAcceptance(command, "unaccept", "Takes back accept", Accept<false>,
                chosen);
  cli::SetFooter(command,
                 "Examples:\n"
                 "  distbench history list results\n"
                 "  distbench history trend results --test=my_test");
}

const base::Plugin<base::Product> kProduct(
    "history",
    new base::Product{"Finds trends and changes in folders of results"});

const base::Plugin<cli::Command> kCommand("history",
                                          new cli::Command{
                                              cli::HelpSection::kOutcomes,
                                              AddHistoryCommand});

}  // namespace
}  // namespace distbench::history
