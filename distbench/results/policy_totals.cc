#include "distbench/results/policy_totals.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/moments_proto.h"

namespace distbench::results {
namespace {

struct PolicyCount {
  int64_t PolicyTotals::*total;
  int64_t (PolicyStatistics::*get)() const;
  void (PolicyStatistics::*set)(int64_t value);
};

constexpr PolicyCount kPolicyCounts[] = {
    {&PolicyTotals::request_count, &PolicyStatistics::request_count,
     &PolicyStatistics::set_request_count},
    {&PolicyTotals::attempt_count, &PolicyStatistics::attempt_count,
     &PolicyStatistics::set_attempt_count},
    {&PolicyTotals::retry_count, &PolicyStatistics::retry_count,
     &PolicyStatistics::set_retry_count},
    {&PolicyTotals::hedge_count, &PolicyStatistics::hedge_count,
     &PolicyStatistics::set_hedge_count},
    {&PolicyTotals::hedge_won_count, &PolicyStatistics::hedge_won_count,
     &PolicyStatistics::set_hedge_won_count},
    {&PolicyTotals::succeeded_attempt_count,
     &PolicyStatistics::succeeded_attempt_count,
     &PolicyStatistics::set_succeeded_attempt_count},
    {&PolicyTotals::failed_attempt_count,
     &PolicyStatistics::failed_attempt_count,
     &PolicyStatistics::set_failed_attempt_count},
    {&PolicyTotals::abandoned_attempt_count,
     &PolicyStatistics::abandoned_attempt_count,
     &PolicyStatistics::set_abandoned_attempt_count},
    {&PolicyTotals::uncancelled_attempt_count,
     &PolicyStatistics::uncancelled_attempt_count,
     &PolicyStatistics::set_uncancelled_attempt_count},
    {&PolicyTotals::refused_by_budget_count,
     &PolicyStatistics::refused_by_budget_count,
     &PolicyStatistics::set_refused_by_budget_count},
    {&PolicyTotals::refused_by_circuit_breaker_count,
     &PolicyStatistics::refused_by_circuit_breaker_count,
     &PolicyStatistics::set_refused_by_circuit_breaker_count},
    {&PolicyTotals::refused_by_limit_count,
     &PolicyStatistics::refused_by_limit_count,
     &PolicyStatistics::set_refused_by_limit_count},
    {&PolicyTotals::circuit_opened_count,
     &PolicyStatistics::circuit_opened_count,
     &PolicyStatistics::set_circuit_opened_count},
    {&PolicyTotals::not_needed_count, &PolicyStatistics::not_needed_count,
     &PolicyStatistics::set_not_needed_count},
    {&PolicyTotals::quorum_failed_count, &PolicyStatistics::quorum_failed_count,
     &PolicyStatistics::set_quorum_failed_count}};

struct PolicyHistogram {
  absl::string_view name;
  stats::LogHistogram PolicyTotals::*total;
  bool (PolicyStatistics::*has)() const;
  const Histogram& (PolicyStatistics::*get)() const;
  Histogram* (PolicyStatistics::*mutable_field)();
};

constexpr PolicyHistogram kPolicyHistograms[] = {
    {"quorum_time_ns", &PolicyTotals::quorum_time_ns,
     &PolicyStatistics::has_quorum_time_ns, &PolicyStatistics::quorum_time_ns,
     &PolicyStatistics::mutable_quorum_time_ns},
    {"attempt_time_ns", &PolicyTotals::attempt_time_ns,
     &PolicyStatistics::has_attempt_time_ns, &PolicyStatistics::attempt_time_ns,
     &PolicyStatistics::mutable_attempt_time_ns}};

absl::Status ValidatePolicies(const PolicyStatistics& statistics) {
  for (const PolicyCount& field : kPolicyCounts) {
    if ((statistics.*field.get)() >= 0) continue;
    return absl::InvalidArgumentError(
        "statistics of policies have a negative count; all are at least 0");
  }
  for (const PolicyHistogram& field : kPolicyHistograms) {
    if (!(statistics.*field.has)()) continue;
    const absl::Status status = ValidateHistogram((statistics.*field.get)());
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field.name, " of policies: ", status.message()));
  }
  return statistics.has_concurrency_limit()
             ? ValidateMoments(statistics.concurrency_limit())
             : absl::OkStatus();
}

}  // namespace

void PolicyTotals::Merge(const PolicyTotals& other) {
  for (const PolicyCount& field : kPolicyCounts) {
    this->*field.total =
        base::SaturatingAdd(this->*field.total, other.*field.total);
  }
  for (const PolicyHistogram& field : kPolicyHistograms) {
    (this->*field.total).Merge(other.*field.total);
  }
  concurrency_limit.Merge(other.concurrency_limit);
}

absl::Status PolicyTotals::Add(const PolicyStatistics& statistics) {
  absl::Status status = ValidatePolicies(statistics);
  if (!status.ok()) return status;
  for (const PolicyCount& field : kPolicyCounts) {
    this->*field.total =
        base::SaturatingAdd(this->*field.total, (statistics.*field.get)());
  }
  for (const PolicyHistogram& field : kPolicyHistograms) {
    if (!(statistics.*field.has)()) continue;
    // Adding valid histograms cannot fail.
    AddHistogram((statistics.*field.get)(), this->*field.total).IgnoreError();
  }
  AddMoments(statistics.concurrency_limit(), concurrency_limit);
  return absl::OkStatus();
}

void PolicyTotals::Encode(PolicyStatistics& statistics) const {
  statistics.Clear();
  for (const PolicyCount& field : kPolicyCounts) {
    (statistics.*field.set)(this->*field.total);
  }
  for (const PolicyHistogram& field : kPolicyHistograms) {
    const stats::LogHistogram& histogram = this->*field.total;
    if (histogram.count() == 0) continue;
    EncodeHistogram(histogram, *(statistics.*field.mutable_field)());
  }
  if (concurrency_limit.count > 0) {
    EncodeMoments(concurrency_limit, *statistics.mutable_concurrency_limit());
  }
}

absl::Status MergePolicyStatistics(const PolicyStatistics& from,
                                   PolicyStatistics& into) {
  PolicyTotals totals;
  absl::Status status = totals.Add(into);
  if (status.ok()) status = totals.Add(from);
  if (status.ok()) totals.Encode(into);
  return status;
}

}  // namespace distbench::results
