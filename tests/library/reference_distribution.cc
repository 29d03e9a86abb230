// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/reference_distribution.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench {
namespace {

absl::Status LineError(size_t line, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", problem));
}

}  // namespace

absl::StatusOr<ReferenceDistribution> ReferenceDistribution::Parse(
    absl::string_view csv, absl::string_view rows) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(csv, '\n', absl::SkipWhitespace());
  if (lines.empty()) return LineError(1, "there is no header");
  ReferenceDistribution result;
  result.linear_ = absl::StrContains(lines[0], "cumulative_percent");
  if (!result.linear_ && !absl::StrContains(lines[0], "weight")) {
    return LineError(
        1, "the last column must be \"cumulative_percent\" or \"weight\"");
  }
  double sum = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<absl::string_view> cells = absl::StrSplit(lines[i], ',');
    if (!rows.empty() && cells[0] != rows) continue;
    double value = 0;
    double share = 0;
    if (cells.size() < 2 ||
        !absl::SimpleAtod(cells[cells.size() - 2], &value) ||
        !absl::SimpleAtod(cells.back(), &share) || share < 0) {
      return LineError(i + 1, "expected a value and a share of at least 0");
    }
    if (!result.linear_ && share == 0) continue;
    sum = result.linear_ ? share : sum + share;
    if (!result.values_.empty() &&
        (value <= result.values_.back() || sum < result.cumulative_.back())) {
      return LineError(i + 1, "values and shares must ascend");
    }
    result.values_.push_back(value);
    result.cumulative_.push_back(sum);
  }
  if (sum <= 0) return LineError(lines.size(), "there are no rows to compare");
  for (double& cumulative : result.cumulative_) cumulative /= sum;
  return result;
}

// The probability up to `value`, which is below values_[next] and not below the
// value before it.
double ReferenceDistribution::Between(size_t next, double value) const {
  if (next == 0) return 0;
  if (next == values_.size()) return 1;
  const double start = cumulative_[next - 1];
  if (!linear_) return start;
  return start + (cumulative_[next] - start) * (value - values_[next - 1]) /
                     (values_[next] - values_[next - 1]);
}

double ReferenceDistribution::UpTo(double value) const {
  const auto next = std::upper_bound(values_.begin(), values_.end(), value);
  return Between(next - values_.begin(), value);
}

double ReferenceDistribution::Below(double value) const {
  if (linear_ && value > values_.front()) return UpTo(value);
  const auto next = std::lower_bound(values_.begin(), values_.end(), value);
  return Between(next - values_.begin(), value);
}

double KolmogorovDistance(const std::vector<double>& sample,
                          const ReferenceDistribution& reference, double from) {
  std::vector<double> places = reference.values();
  places.insert(places.end(), sample.begin(), sample.end());
  const double size = static_cast<double>(sample.size());
  const auto share = [&](std::vector<double>::const_iterator end) {
    return static_cast<double>(end - sample.begin()) / size;
  };
  double distance = 0;
  for (double place : places) {
    if (place < from) continue;
    const auto [first, last] =
        std::equal_range(sample.begin(), sample.end(), place);
    distance =
        std::max({distance, std::abs(share(last) - reference.UpTo(place)),
                  std::abs(share(first) - reference.Below(place))});
  }
  return distance;
}

}  // namespace distbench
