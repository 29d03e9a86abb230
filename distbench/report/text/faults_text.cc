#include "distbench/report/text/faults_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/planned_faults.h"
#include "distbench/report/text/failure_lines.h"

namespace distbench::report {
namespace {

// Further times are only counted.
constexpr size_t kTimesShown = 5;

double SecondsSince(int64_t start_ns, int64_t time_ns) {
  return static_cast<double>(base::SaturatingSubtract(time_ns, start_ns)) / 1e9;
}

std::string TimesText(const std::vector<FaultSpan>& spans, int64_t start_ns) {
  std::string text;
  for (size_t i = 0; i < std::min(spans.size(), kTimesShown); ++i) {
    const double begin = SecondsSince(start_ns, spans[i].begin_ns);
    const double end = SecondsSince(start_ns, spans[i].end_ns);
    absl::StrAppend(&text, i == 0 ? " at: " : ", ",
                    begin == end ? absl::StrFormat("%.3fs", begin)
                                 : absl::StrFormat("%.3f-%.3fs", begin, end));
  }
  if (spans.size() > kTimesShown) {
    absl::StrAppend(&text, " and ", spans.size() - kTimesShown, " more");
  }
  return text;
}

}  // namespace

std::vector<std::string> FaultLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const PlannedFault& fault : PlannedFaultsOf(result)) {
    lines.push_back(absl::StrFormat(
        "  %s: %s: times: %d%s requests: %d connections: %d%s",
        OneLine(fault.name), OneLine(fault.description), fault.spans.size(),
        fault.has_more_spans ? " or more" : "", fault.request_count,
        fault.connection_count,
        TimesText(fault.spans, result.run_info().start_timestamp_ns())));
  }
  return lines;
}

std::vector<std::string> AdmissionLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const ServiceAdmission& admission : AdmissionsOf(result)) {
    std::string& line = lines.emplace_back(absl::StrFormat(
        "  %s: admitted: %d refused: %d", OneLine(admission.service),
        admission.admitted_count, admission.refused_count));
    const stats::LogHistogram& wait_ns = admission.wait_ns;
    if (wait_ns.count() == 0) continue;
    absl::StrAppendFormat(
        &line, " wait: mean: %.0fns median: %dns 99%%: %dns max: %dns",
        wait_ns.mean(), wait_ns.ValueAtQuantile(0.5),
        wait_ns.ValueAtQuantile(0.99), wait_ns.max());
  }
  return lines;
}

}  // namespace distbench::report
