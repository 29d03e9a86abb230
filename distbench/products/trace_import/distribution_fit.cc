// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/distribution_fit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace distbench::trace_import {
namespace {

constexpr size_t kParts = 32;
constexpr size_t kMaxCounts = 8;

void AddValue(int64_t lower, int64_t upper, PmfPoint& point) {
  DataPoint& value = *point.add_data_points();
  if (lower == upper) {
    value.set_exact(lower);
  } else {
    value.set_lower(lower);
    value.set_upper(upper);
  }
}

struct Box {
  int64_t count = 0;
  std::pair<int64_t, int64_t> lower;
  std::pair<int64_t, int64_t> upper;
};

int PowerOf(int64_t size) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(size)));
}

}  // namespace

DistributionConfig FitDelays(std::vector<int64_t> values_ns,
                             const std::string& name) {
  std::sort(values_ns.begin(), values_ns.end());
  DistributionConfig fit;
  fit.set_name(name);
  fit.add_field_names("action_delay_ns");
  const size_t total = values_ns.size();
  const size_t part = std::max<size_t>(1, total / kParts);
  for (size_t begin = 0; begin < total;) {
    // Within a part of the values of the end, parts halve.
    const size_t left = total - begin;
    const size_t size = left > 2 * part ? part : std::max<size_t>(1, left / 2);
    // Equal values stay together.
    size_t end = begin + size;
    while (end < total && values_ns[end] == values_ns[end - 1]) ++end;
    PmfPoint& point = *fit.add_pmf_points();
    point.set_pmf(static_cast<float>(static_cast<double>(end - begin) /
                                     static_cast<double>(total)));
    AddValue(values_ns[begin], values_ns[end - 1], point);
    begin = end;
  }
  return fit;
}

DistributionConfig FitSizes(
    const std::vector<std::pair<int64_t, int64_t>>& sizes,
    const std::string& name) {
  std::map<std::pair<int, int>, Box> boxes;
  for (const auto& size : sizes) {
    Box& box = boxes[{PowerOf(size.first), PowerOf(size.second)}];
    if (box.count++ == 0) box.lower = box.upper = size;
    box.lower = {std::min(box.lower.first, size.first),
                 std::min(box.lower.second, size.second)};
    box.upper = {std::max(box.upper.first, size.first),
                 std::max(box.upper.second, size.second)};
  }
  DistributionConfig fit;
  fit.set_name(name);
  fit.add_field_names("request_payload_size");
  fit.add_field_names("response_payload_size");
  for (const auto& [powers, box] : boxes) {
    PmfPoint& point = *fit.add_pmf_points();
    point.set_pmf(static_cast<float>(static_cast<double>(box.count) /
                                     static_cast<double>(sizes.size())));
    AddValue(box.lower.first, box.upper.first, point);
    AddValue(box.lower.second, box.upper.second, point);
  }
  return fit;
}

CountWeights SimplifyCounts(const std::map<int, int64_t>& counts) {
  CountWeights simple(counts.begin(), counts.end());
  while (simple.size() > kMaxCounts) {
    // The two neighbours with the least weight, but never 0.
    auto least = simple.begin() + (simple.front().first == 0 ? 1 : 0);
    for (auto i = least; i + 1 != simple.end(); ++i) {
      if (i->second + (i + 1)->second < least->second + (least + 1)->second) {
        least = i;
      }
    }
    const auto next = least + 1;
    const int64_t weight = least->second + next->second;
    const double sum = static_cast<double>(least->first) * least->second +
                       static_cast<double>(next->first) * next->second;
    *least = {static_cast<int>(std::lround(sum / weight)), weight};
    simple.erase(next);
  }
  return simple;
}

}  // namespace distbench::trace_import
