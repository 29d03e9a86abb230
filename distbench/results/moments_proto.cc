#include "distbench/results/moments_proto.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"

namespace distbench::results {

absl::Status ValidateMoments(const ValueMoments& moments) {
  const bool has_values = moments.count() > 0;
  const auto is_sum = [](double value) {
    return std::isfinite(value) && value >= 0;
  };
  if (moments.count() >= 0 && moments.has_min() == has_values &&
      moments.has_max() == has_values && moments.min() >= 0 &&
      moments.min() <= moments.max() && is_sum(moments.sum()) &&
      is_sum(moments.sum_of_squares())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("moments of ", moments.count(), " values with a min of ",
                   moments.min(), ", a max of ", moments.max(), ", a sum of ",
                   moments.sum(), " and a sum of squares of ",
                   moments.sum_of_squares(), " contradict themselves"));
}

void AddMoments(const ValueMoments& from, stats::RunningMoments& into) {
  if (from.count() == 0) return;
  into.count = base::SaturatingAdd(into.count, from.count());
  into.min = std::min(into.min, from.min());
  into.max = std::max(into.max, from.max());
  into.sum += from.sum();
  into.sum_of_squares += from.sum_of_squares();
}

void EncodeMoments(const stats::RunningMoments& moments, ValueMoments& proto) {
  proto.set_count(moments.count);
  proto.set_min(moments.min);
  proto.set_max(moments.max);
  proto.set_sum(moments.sum);
  proto.set_sum_of_squares(moments.sum_of_squares);
}

}  // namespace distbench::results
