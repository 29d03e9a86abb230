// The figures by which lines of text describe times. Those of JSON and CSV are
// the fields of proto/report.proto.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::report {

struct TimeFigure {
  absl::string_view heading;

  // From 0, the minimum, to 100, the maximum; less than 0 for the mean.
  double percent;

  constexpr bool is_mean() const { return percent < 0; }
  constexpr double quantile() const { return percent / 100; }
};

using TimeFigures = absl::Span<const TimeFigure>;

namespace figures {

inline constexpr TimeFigure kMin = {"min", 0};
inline constexpr TimeFigure kMean = {"mean", -1};
inline constexpr TimeFigure kP50 = {"median", 50};
inline constexpr TimeFigure kP90 = {"90%", 90};
inline constexpr TimeFigure kP99 = {"99%", 99};
inline constexpr TimeFigure kP999 = {"99.9%", 99.9};
inline constexpr TimeFigure kMax = {"max", 100};

}  // namespace figures

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TIME_FIGURES_H_
