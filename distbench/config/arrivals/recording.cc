#include "distbench/config/arrivals/recording.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench::config {
namespace {

// Of a whole recording. Far less could not be scaled.
constexpr double kShortestSeconds = 1e-9;

absl::Status BadLine(int number, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", number, " ", problem));
}

}  // namespace

absl::StatusOr<std::vector<double>> ParseRecording(absl::string_view text) {
  std::vector<double> gaps;
  double first = 0;
  double last = 0;
  int arrivals = 0;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    double seconds;
    if (!absl::SimpleAtod(line, &seconds) || !std::isfinite(seconds)) {
      return BadLine(number, "is not a time; write seconds, such as 12.345");
    }
    if (arrivals > 0 && seconds < last) {
      return BadLine(number, "is before the previous time; sort them");
    }
    if (++arrivals > kMaxRecordedArrivals) {
      return BadLine(
          number, absl::StrCat("is beyond the limit of ", kMaxRecordedArrivals,
                               " times; leave some out"));
    }
    if (arrivals == 1) first = seconds;
    if (arrivals > 1) gaps.push_back(seconds - last);
    last = seconds;
  }
  if (arrivals < kMinRecordedArrivals) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", arrivals, " times of arrivals; at least ",
                     kMinRecordedArrivals, " make a process"));
  }
  if (last - first < kShortestSeconds || !std::isfinite(last - first)) {
    return absl::InvalidArgumentError(
        "has no time between its arrivals; write seconds with a fraction");
  }
  return gaps;
}

}  // namespace distbench::config
