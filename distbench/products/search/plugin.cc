// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/config/validate/check.h"
#include "distbench/flags/completion.h"
#include "distbench/products/search/benchpress/benchpress.h"
#include "distbench/products/search/command.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "distbench/products/search/report/page_files.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/report/searches.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "search",
    new base::Product{
        "Finds the most load with which a test meets its objectives"});

const base::Plugin<Command> kCommand("search", new Command{HelpSection::kRuns,
                                                           AddSearchCommand});

// Those that tests of the command line have, and if it names none, the kinds.
std::vector<flags::Candidate> KnobCandidates(
    const flags::ValueRequest& request) {
  std::vector<flags::Candidate> candidates = cli::NamesInConfigs(
      request, [](const auto& test, std::set<std::string>& names) {
        TestSequence sequence;
        *sequence.add_tests() = test;
        const absl::StatusOr<TestSequence> checked =
            config::CheckTestSequence(std::move(sequence));
        if (!checked.ok()) return;
        for (const std::string& knob : KnobsOf(checked->tests(0))) {
          names.insert(knob);
        }
      });
  if (candidates.empty()) {
    candidates = {{"rate"},     {"concurrency"}, {"concurrency:"},
                  {"payload:"}, {"fanout:"},     {"control:"}};
  }
  candidates.push_back({"builder:", "CONFIG:PARAMETER, of test_builder"});
  return candidates;
}

const base::Plugin<cli::ValueType> kKnobs("KNOB",
                                          new cli::ValueType{KnobCandidates});

}  // namespace

// What searches add to reports.

namespace {

base::Json ValueOf(const report::ReportInput& input,
                   const report::JsonLimits&) {
  return SearchesJson(ListSearches(input.results));
}

std::string TextOf(const report::ReportInput& input) {
  std::string text;
  for (const SourcedSearch& search : ListSearches(input.results)) {
    for (const std::string& line : SummarizeSearch(*search.report)) {
      absl::StrAppend(&text, line, "\n");
    }
  }
  return text;
}

// The searches, of which only one instance may be wanted: `reports` holds them.
absl::StatusOr<std::vector<SourcedSearch>> SearchesOf(
    const report::ReportInput& input, const report::ReportFlagValues& flags,
    std::deque<SearchReport>& reports) {
  std::vector<SourcedSearch> searches = ListSearches(input.results);
  const auto instance =
      static_cast<int>(report::FlagValue(flags, "--instance"));
  if (instance == 0) return searches;
  for (SourcedSearch& search : searches) {
    absl::StatusOr<SearchReport> report =
        ReportOfInstance(*search.report, instance);
    if (!report.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--instance: ", search.source, ": ",
                       std::string(report.status().message())));
    }
    reports.push_back(*std::move(report));
    search.report = &reports.back();
  }
  return searches;
}

// FeedSim's columns come first, so the columns that begin other tables are left
// out.
absl::Status WriteTable(const report::ReportInput& input,
                        const report::ReportFlagValues& flags,
                        report::ByteSink sink) {
  std::deque<SearchReport> of_instance;
  const absl::StatusOr<std::vector<SourcedSearch>> searches =
      SearchesOf(input, flags, of_instance);
  if (!searches.ok()) return searches.status();
  sink(SearchTableHeader() + "\n");
  for (const SourcedSearch& search : *searches) {
    for (const SearchProbe& probe : search.report->probes()) {
      sink(SearchTableRows(*search.report, probe));
    }
  }
  return absl::OkStatus();
}

// Reports each result that holds a search; several reports form a list.
absl::Status WriteBenchpress(const report::ReportInput& input,
                             const report::ReportFlagValues& flags,
                             report::ByteSink sink) {
  std::deque<SearchReport> of_instance;
  const absl::StatusOr<std::vector<SourcedSearch>> searches =
      SearchesOf(input, flags, of_instance);
  if (!searches.ok()) return searches.status();
  const absl::StatusOr<std::string> json = RenderBenchpress(
      *searches, input.runs,
      {.strict_legacy = report::FlagValue(flags, "--strict_legacy") != 0});
  if (!json.ok()) return json.status();
  sink(*json);
  return absl::OkStatus();
}

absl::Status CheckStrictLegacy(absl::string_view format, absl::string_view) {
  if (format == "benchpress") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--strict_legacy goes with --format=benchpress, not with --format=",
      format));
}

// --instance goes with what reports a search: its table, and benchpress.
absl::Status CheckInstance(absl::string_view format, absl::string_view table) {
  if (format == "benchpress" || (format == "csv" && table == "search")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--instance goes with --format=csv --table=search, or with "
      "--format=benchpress");
}

const base::Plugin<report::DocumentKey> kKey("searches",
                                             new report::DocumentKey{
                                                 {"tests", 2}, ValueOf});

const base::Plugin<report::TextPart> kText("searches",
                                           new report::TextPart{
                                               {report::kTextStart}, TextOf});

const base::Plugin<report::PagePart> kPage(
    "search", new report::PagePart{{"topology", 2}, kSearchHtml, kSearchJs});

const base::Plugin<report::CsvTable> kTable(
    "search",
    new report::CsvTable{{"", 1}, "a row per probe of a search", WriteTable});

const base::Plugin<report::ReportFormat> kFormat(
    "benchpress",
    new report::ReportFormat{"a search as DCPerf's FeedSim reports it",
                             WriteBenchpress});

const base::Plugin<report::ReportFlag> kStrictLegacy(
    "--strict_legacy",
    new report::ReportFlag{
        {"", 1},
        "",
        "With --format=benchpress: only FeedSim's keys, and some\n"
        "numbers as strings, as FeedSim has them",
        CheckStrictLegacy});

const base::Plugin<report::ReportFlag> kInstance(
    "--instance",
    new report::ReportFlag{
        {"", 2},
        "N",
        "Of a search with several copies of the system, only this\n"
        "one (from 1): with --format=benchpress, or --table=search",
        CheckInstance});

const base::Plugin<report::CapacitySource> kCapacities(
    "searches",
    new report::CapacitySource{HasSearches, CompareSearches, AnswersOf});

const base::Plugin<report::ValidityRule> kValidity("searches",
                                                   new report::ValidityRule{
                                                       HasInvalidSearch});

}  // namespace
}  // namespace distbench::search
