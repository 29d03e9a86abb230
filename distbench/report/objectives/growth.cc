#include "distbench/report/objectives/growth.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace distbench::report {
namespace {

constexpr double kBeyondChance = 3;

struct Half {
  double mean;
  double square_error;  // of the mean
};

// Requires at least two values.
Half Summarize(absl::Span<const double> values) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .square_error = squares / (count - 1) / count};
}

}  // namespace

bool HasGrown(absl::Span<const stats::Outcomes> blocks) {
  std::vector<double> means;
  for (const stats::Outcomes& block : blocks) {
    if (block.latency_ns.count() > 0) means.push_back(block.latency_ns.mean());
  }
  if (means.size() < kFewestForGrowth) return false;
  const absl::Span<const double> all = means;
  const size_t middle = means.size() / 2;
  const Half early = Summarize(all.first(middle));
  const Half late = Summarize(all.subspan(middle));
  return late.mean - early.mean >
         kBeyondChance * std::sqrt(early.square_error + late.square_error);
}

}  // namespace distbench::report
