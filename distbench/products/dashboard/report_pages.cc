#include "distbench/products/dashboard/report_pages.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/comparison_page/comparison_page.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::dashboard {
namespace {

absl::Status CheckSize(int64_t bytes, const history::IndexedResult& result) {
  if (bytes <= kMaxReportedBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      result.file(), " is too large for the dashboard (", bytes >> 20,
      " MiB, at most ", kMaxReportedBytes >> 20,
      " MiB); use distbench report or distbench compare on its host"));
}

absl::StatusOr<base::FileDescriptor> OpenFile(
    const history::IndexedResult& result, const history::ResultSource& source) {
  absl::StatusOr<base::FileDescriptor> file = source.Open(result.file());
  if (!file.ok()) return file.status();
  struct stat info = {};
  fstat(file->get(), &info);
  absl::Status status = CheckSize(info.st_size, result);
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<report::SourcedResults> ReadFileOf(
    const history::IndexedResult& result, const history::ResultSource& source) {
  const absl::StatusOr<base::FileDescriptor> file = OpenFile(result, source);
  if (!file.ok()) return file.status();
  absl::StatusOr<history::KeptResults> kept =
      source.Read(result.file(), kMaxReportedBytes);
  if (!kept.ok()) return kept.status();
  return report::SourcedResults{result.file(), std::move(kept->results)};
}

absl::StatusOr<std::string> CheckedPage(std::string page,
                                        const history::IndexedResult& result) {
  absl::Status status = CheckSize(static_cast<int64_t>(page.size()), result);
  if (!status.ok()) return status;
  return page;
}

// The runs of the result's test, which its id numbers: all repetitions, or only
// itself if it is a part of a search, whose loads differ.
absl::StatusOr<std::vector<report::TestRun>> RunsOf(
    const history::IndexedResult& result,
    const report::SourcedResults& sourced) {
  int index = -1;
  if (!absl::SimpleAtoi(result.id().substr(result.id().rfind('-') + 1), &index) ||
      index < 0 || index >= sourced.results.test_results_size()) {
    return absl::NotFoundError(absl::StrCat(
        result.file(), " no longer has this test; load the list again"));
  }
  const absl::Span<const report::SourcedResults> all(&sourced, 1);
  const TestResult* chosen = &sourced.results.test_results(index);
  const auto is_chosen = [&](const report::TestRun& run) {
    return run.result == chosen;
  };
  std::vector<report::TestRun> runs = report::ListPlainRuns(all);
  const auto found = std::find_if(runs.begin(), runs.end(), is_chosen);
  if (found == runs.end()) {
    runs = report::ListRuns(all);
    std::erase_if(runs,
                  [&](const report::TestRun& run) { return !is_chosen(run); });
    return runs;
  }
  const std::string name = found->name;
  std::erase_if(runs,
                [&](const report::TestRun& run) { return run.name != name; });
  return runs;
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

absl::StatusOr<std::string> ReportPage(const history::IndexedResult& result,
                                       const history::ResultSource& source) {
  const absl::StatusOr<report::SourcedResults> sourced =
      ReadFileOf(result, source);
  if (!sourced.ok()) return sourced.status();
  const absl::Span<const report::SourcedResults> all(&*sourced, 1);
  return CheckedPage(report::RenderHtml(report::InputOf(all)), result);
}

absl::StatusOr<std::string> ReportJson(const history::IndexedResult& result,
                                       const history::ResultSource& source) {
  const absl::StatusOr<report::SourcedResults> sourced =
      ReadFileOf(result, source);
  if (!sourced.ok()) return sourced.status();
  const absl::Span<const report::SourcedResults> all(&*sourced, 1);
  return CheckedPage(report::RenderJson(report::InputOf(all)), result);
}

absl::StatusOr<std::string> ReportFile(const history::IndexedResult& result,
                                       const history::ResultSource& source) {
  const absl::StatusOr<base::FileDescriptor> file = OpenFile(result, source);
  if (!file.ok()) return file.status();
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = read(file->get(), buffer, sizeof(buffer));
    if (size < 0) {
      return absl::UnavailableError(absl::StrCat("cannot read ", result.file(),
                                                 ": ", std::strerror(errno)));
    }
    if (size == 0) return bytes;
    bytes.append(buffer, size);
    absl::Status status = CheckSize(static_cast<int64_t>(bytes.size()), result);
    if (!status.ok()) return status;
  }
}

absl::StatusOr<std::string> ComparisonPage(
    const history::IndexedResult& base, const history::IndexedResult& next,
    const history::ResultSource& source) {
  const absl::StatusOr<report::SourcedResults> base_results =
      ReadFileOf(base, source);
  if (!base_results.ok()) return base_results.status();
  const absl::StatusOr<report::SourcedResults> next_results =
      ReadFileOf(next, source);
  if (!next_results.ok()) return next_results.status();
  absl::StatusOr<std::vector<report::TestRun>> base_runs =
      RunsOf(base, *base_results);
  if (!base_runs.ok()) return base_runs.status();
  absl::StatusOr<std::vector<report::TestRun>> next_runs =
      RunsOf(next, *next_results);
  if (!next_runs.ok()) return next_runs.status();

  report::ComparisonReport report;
  report.base = {base.file(), *std::move(base_runs)};
  report.next = {next.file(), *std::move(next_runs)};
  report.tests = report::Compare(report.base.runs, report.next.runs,
                                 report::CompareOptions());
  return CheckedPage(report::RenderComparisonPage(report), next);
}

namespace {

std::string HashSource(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::StrCat(" 'sha256-",
                      absl::Base64Escape(absl::string_view(
                          reinterpret_cast<char*>(digest), size)),
                      "'");
}

// Takes the element that begins at the page's start, such as <script>, out of
// the page. Appends the hash of its content, unless that is data.
void TakeElement(absl::string_view end_tag, absl::string_view& page,
                 std::string& sources) {
  const size_t begin = std::min(page.find('>'), page.size() - 1) + 1;
  const size_t end = std::min(page.find(end_tag, begin), page.size());
  if (!absl::StrContains(page.substr(0, begin), "application/json")) {
    absl::StrAppend(&sources, HashSource(page.substr(begin, end - begin)));
  }
  page.remove_prefix(end);
}

}  // namespace

std::string PolicyOf(absl::string_view page) {
  std::string scripts;
  std::string styles;
  while (true) {
    const size_t script = page.find("<script");
    const size_t style = page.find("<style");
    const size_t next = std::min(script, style);
    if (next == absl::string_view::npos) break;
    page.remove_prefix(next);
    if (next == script) {
      TakeElement("</script>", page, scripts);
    } else {
      TakeElement("</style>", page, styles);
    }
  }
  return absl::StrCat("default-src 'none'; script-src",
                      scripts.empty() ? " 'none'" : scripts, "; style-src",
                      styles.empty() ? " 'none'" : styles,
                      "; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'");
}

}  // namespace distbench::dashboard
