// The figures by which reports describe times: one vocabulary for the columns
// of tables, the keys of JSON and the lines of text.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::report {

struct TimeFigure {
  absl::string_view name;     // in columns and keys, which end in "_ns"
  absl::string_view heading;  // in lines for people

  // From 0, the minimum, to 100, the maximum; less than 0 for the mean.
  double percent;

  constexpr bool is_mean() const { return percent < 0; }
  constexpr double quantile() const { return percent / 100; }
};

using TimeFigures = absl::Span<const TimeFigure>;

namespace figures {

inline constexpr TimeFigure kMin = {"min", "min", 0};
inline constexpr TimeFigure kMean = {"mean", "mean", -1};
inline constexpr TimeFigure kP50 = {"p50", "median", 50};
inline constexpr TimeFigure kP75 = {"p75", "75%", 75};
inline constexpr TimeFigure kP90 = {"p90", "90%", 90};
inline constexpr TimeFigure kP95 = {"p95", "95%", 95};
inline constexpr TimeFigure kP99 = {"p99", "99%", 99};
inline constexpr TimeFigure kP999 = {"p99.9", "99.9%", 99.9};
inline constexpr TimeFigure kP9999 = {"p99.99", "99.99%", 99.99};
inline constexpr TimeFigure kP99999 = {"p99.999", "99.999%", 99.999};
inline constexpr TimeFigure kMax = {"max", "max", 100};

}  // namespace figures

// The percentiles of which reports show the intervals, ascending.
inline constexpr TimeFigure kReportPercentiles[] = {
    figures::kP50, figures::kP75,  figures::kP90,   figures::kP95,
    figures::kP99, figures::kP999, figures::kP9999, figures::kP99999};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_
