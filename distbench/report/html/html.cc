#include "distbench/report/html/html.h"

#include "absl/strings/str_cat.h"
#include "distbench/report/html/page_files.h"
#include "distbench/report/html/page_template.h"
#include "distbench/report/json/json.h"

namespace distbench::report {
namespace {

// At least one pixel each on a wide screen.
constexpr int64_t kMaxIntervals = 1500;

// About 250 instances that all talk to one another.
constexpr int64_t kMaxPeerRows = 62'500;

// The page shows the worst of a run, and no single CPUs, control groups or
// seconds of activities.
constexpr int64_t kMaxConnectionRows = 20'000;
constexpr int64_t kMaxInstanceRows = 20'000;
constexpr int64_t kMaxCpuRows = 0;
constexpr int64_t kMaxGroupRows = 0;
constexpr int64_t kMaxActivitySeriesRows = 0;
constexpr int64_t kMaxGoodputRows = 40'000;
constexpr int64_t kMaxRecoveryRows = 5'000;

// 30 cells of 20 runs that take three minutes each.
constexpr int64_t kMaxProtectionRows = 108'000;

}  // namespace

std::string RenderHtml(absl::Span<const TestRun> runs,
                       absl::Span<const SourcedSearch> searches) {
  const std::string data =
      RenderJson(runs,
                 {.max_peer_rows = kMaxPeerRows,
                  .max_activity_series_rows = kMaxActivitySeriesRows,
                  .max_cpu_rows = kMaxCpuRows,
                  .max_group_rows = kMaxGroupRows,
                  .max_connection_rows = kMaxConnectionRows,
                  .max_goodput_rows = kMaxGoodputRows,
                  .max_recovery_rows = kMaxRecoveryRows,
                  .max_instance_rows = kMaxInstanceRows,
                  .max_protection_rows = kMaxProtectionRows,
                  .max_intervals = kMaxIntervals},
                 searches);
  const std::string script = absl::StrCat(
      kFormatsJs, kModelJs, kDomJs, kSortJs, kVerdictsJs, kTitleJs,
      kSimulationJs, kHeadlineJs, kFindingsJs, kTopologyLayoutJs, kTopologyJs,
      kTablesJs, kChartsJs, kZoomJs, kDownloadsJs, kSelectionJs, kRepeatsJs,
      kLatencyChartsJs, kIntervalsJs, kFaultsJs, kOverTimeJs, kPoliciesJs,
      kHeatMapJs, kResourcesJs, kSweepJs, kNumaJs, kSearchJs, kProtectionJs,
      kStacksJs, kBlameJs, kDeepLinksJs, kPrintJs, kMainJs);
  return RenderPage({.title = "distbench report",
                     .style = kStyleCss,
                     .body = kPageHtml,
                     .data = {{"report-data", data}},
                     .script = script});
}

}  // namespace distbench::report
