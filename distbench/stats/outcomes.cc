// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/outcomes.h"

#include <algorithm>

namespace distbench::stats {

double Outcomes::failed_share() const {
  return count() == 0
             ? 0
             : static_cast<double>(failed_count) / static_cast<double>(count());
}

void Outcomes::Merge(const OutcomesView& other) {
  latency_ns.Merge(other.latency_ns());
  failed_count += other.failed_count();
}

int64_t Outcomes::ValueAtQuantile(double quantile) const {
  return OutcomesView(*this).ValueAtQuantile(quantile);
}

int64_t OutcomesView::ValueAtQuantile(double quantile) const {
  if (failed_count_ == 0) return latency_ns_->ValueAtQuantile(quantile);
  const uint64_t position =
      std::min(static_cast<uint64_t>(static_cast<double>(count()) * quantile),
               count() - 1);
  if (position >= latency_ns_->count()) return Outcomes::kFailed;
  // The middle of the position, so that rounding does not find its neighbour.
  return latency_ns_->ValueAtQuantile(
      (static_cast<double>(position) + 0.5) /
      static_cast<double>(latency_ns_->count()));
}

}  // namespace distbench::stats
