// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/report_pages.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/base/digest.h"
#include "distbench/base/files.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/comparison_page/comparison_page.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::dashboard {
namespace {

absl::Status TooLarge(const history::IndexedResult& result) {
  return absl::ResourceExhaustedError(absl::StrCat(
      result.file(), " is too large for the dashboard (more than ",
      kMaxReportedBytes >> 20,
      " MiB); use distbench report or distbench compare on its host"));
}

absl::StatusOr<report::SourcedResults> ReadFileOf(
    const history::IndexedResult& result, const history::ResultSource& source) {
  absl::StatusOr<history::KeptResults> kept =
      source.Read(result.file(), kMaxReportedBytes);
  if (absl::IsResourceExhausted(kept.status())) return TooLarge(result);
  if (!kept.ok()) return kept.status();
  return report::SourcedResults{result.file(), std::move(kept->results)};
}

absl::StatusOr<std::string> CheckedPage(std::string page,
                                        const history::IndexedResult& result) {
  if (page.size() > kMaxReportedBytes) return TooLarge(result);
  return page;
}

// A side of a comparison, and the results that its runs point into.
struct ReadSide {
  std::unique_ptr<const report::SourcedResults> results;
  report::ComparisonSide side;
};

// The runs of the result's test, which its id numbers: all repetitions, or only
// itself if it is a part of a search, whose loads differ.
absl::StatusOr<ReadSide> ReadRunsOf(const history::IndexedResult& result,
                                    const history::ResultSource& source) {
  absl::StatusOr<report::SourcedResults> read = ReadFileOf(result, source);
  if (!read.ok()) return read.status();
  auto results =
      std::make_unique<const report::SourcedResults>(*std::move(read));
  int index = -1;
  if (!absl::SimpleAtoi(result.id().substr(result.id().rfind('-') + 1),
                        &index) ||
      index < 0 || index >= results->results.test_results_size()) {
    return absl::NotFoundError(absl::StrCat(
        result.file(), " no longer has this test; load the list again"));
  }
  const absl::Span<const report::SourcedResults> all(results.get(), 1);
  const TestResult* chosen = &results->results.test_results(index);
  const auto is_chosen = [&](const report::TestRun& run) {
    return run.result == chosen;
  };
  std::vector<report::TestRun> runs = report::ListPlainRuns(all);
  const auto found = std::find_if(runs.begin(), runs.end(), is_chosen);
  if (found != runs.end()) {
    std::erase_if(runs, [name = found->name](const report::TestRun& run) {
      return run.name != name;
    });
  } else {
    runs = report::ListRuns(all);
    std::erase_if(runs, std::not_fn(is_chosen));
  }
  return ReadSide{std::move(results), {result.file(), std::move(runs)}};
}

}  // namespace

const std::string& ReportPolicy() {
  static const auto* const policy =
      new std::string(PolicyOf(report::RenderHtml({})));
  return *policy;
}

const std::string& ComparisonPolicy() {
  static const auto* const policy = new std::string(
      PolicyOf(report::RenderComparisonPage(report::ComparisonReport())));
  return *policy;
}

absl::StatusOr<std::string> MakeReport(const history::IndexedResult& result,
                                       const history::ResultSource& source,
                                       bool is_json) {
  const absl::StatusOr<report::SourcedResults> read =
      ReadFileOf(result, source);
  if (!read.ok()) return read.status();
  const report::ReportInput input = report::InputOf(absl::MakeSpan(&*read, 1));
  return CheckedPage(
      is_json ? report::RenderJson(input) : report::RenderHtml(input), result);
}

absl::StatusOr<std::string> ReportFile(const history::IndexedResult& result,
                                       const history::ResultSource& source) {
  const absl::StatusOr<base::FileDescriptor> file = source.Open(result.file());
  if (!file.ok()) return file.status();
  struct stat info = {};
  fstat(file->get(), &info);
  if (info.st_size > kMaxReportedBytes) return TooLarge(result);
  std::string bytes(info.st_size, '\0');
  if (base::ReadAllAt(file->get(), 0, absl::MakeSpan(bytes))) return bytes;
  return absl::UnavailableError(absl::StrCat(
      "cannot read ", result.file(), ", which may be changing; try again"));
}

absl::StatusOr<std::string> ComparisonPage(
    const history::IndexedResult& base, const history::IndexedResult& next,
    const history::ResultSource& source) {
  absl::StatusOr<ReadSide> base_runs = ReadRunsOf(base, source);
  if (!base_runs.ok()) return base_runs.status();
  absl::StatusOr<ReadSide> next_runs = ReadRunsOf(next, source);
  if (!next_runs.ok()) return next_runs.status();
  report::ComparisonReport report;
  report.base = std::move(base_runs->side);
  report.next = std::move(next_runs->side);
  report.tests = report::Compare(report.base.runs, report.next.runs,
                                 report::CompareOptions());
  return CheckedPage(report::RenderComparisonPage(report), next);
}

std::string PolicyOf(absl::string_view page) {
  std::string scripts;
  std::string styles;
  while (true) {
    const size_t script = page.find("<script");
    page.remove_prefix(std::min({script, page.find("<style"), page.size()}));
    if (page.empty()) break;
    const bool is_script = absl::StartsWith(page, "<script");
    const size_t begin = std::min(page.find('>'), page.size() - 1) + 1;
    const size_t end = std::min(
        page.find(is_script ? "</script>" : "</style>", begin), page.size());
    // Documents of data are no scripts.
    if (!absl::StrContains(page.substr(0, begin), "application/json")) {
      const std::string hash = base::Sha256(page.substr(begin, end - begin));
      absl::StrAppend(is_script ? &scripts : &styles, " 'sha256-",
                      absl::Base64Escape(hash), "'");
    }
    page.remove_prefix(end);
  }
  return absl::StrCat("default-src 'none'; script-src",
                      scripts.empty() ? " 'none'" : scripts, "; style-src",
                      styles.empty() ? " 'none'" : styles,
                      "; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'");
}

}  // namespace distbench::dashboard
