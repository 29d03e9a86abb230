// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/testing/result_fuzz_entry.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/comparison_page/comparison_page.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/export/hdr_histogram.h"
#include "distbench/report/export/mpstat.h"
#include "distbench/report/export/openmetrics.h"
#include "distbench/report/export/traces.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/results/result_file.h"

namespace distbench::report {
namespace {

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes)
      : fd_(memfd_create("result", MFD_CLOEXEC)) {
    if (write(fd_, bytes.data(), bytes.size()) !=
        static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  const int fd_;
};

void Drop(absl::string_view) {}

void CompareInAllFormats(const std::vector<TestRun>& runs) {
  CompareOptions options;
  options.noise_runs = runs;
  const ComparisonReport report = {.base = {"base", runs},
                                   .next = {"new", runs},
                                   .tests = Compare(runs, runs, options)};
  ComparisonText(report);
  ComparisonJson(report);
  ComparisonMarkdown(report);
  ComparisonJunit(report);
  RenderComparisonPage(report);
}

void MakeReports(const ReportInput& input) {
  const std::vector<TestRun>& runs = input.runs;
  for (const TestRun& run : runs) {
    SummarizeTest(*run.result);
    Judge(*run.result);
  }
  for (const ReportTable& table : AllTables()) RenderCsv(runs, table, Drop);
  for (const auto& [name, table] : base::Plugins<CsvTable>::All()) {
    table->write(input, {}, Drop).IgnoreError();
  }
  for (const auto& [name, part] : base::Plugins<TextPart>::All()) {
    part->text_of(input);
  }
  RenderJson(input);
  RenderHtml(input);
  RenderTraceEvents(runs, Drop).IgnoreError();
  RenderOtlp(runs, Drop).IgnoreError();
  RenderOpenMetrics(runs);
  RenderMpstat(runs);
  const auto rpc = SelectRpc(runs, {});
  if (rpc.ok()) {
    RenderHdr(*rpc);
    RenderHlog(*rpc);
  }
  CompareInAllFormats(runs);
}

}  // namespace

bool ReadAndReport(absl::string_view bytes) {
  const MemoryFile file(bytes);
  auto results = results::ReadResults(file.path());
  if (!results.ok()) return false;
  const std::vector<SourcedResults> all = {{"input", *std::move(results)}};
  MakeReports(InputOf(all));
  DescribeCapacities(CompareCapacities(all, all, false));
  return true;
}

}  // namespace distbench::report

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::report::ReadAndReport(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
