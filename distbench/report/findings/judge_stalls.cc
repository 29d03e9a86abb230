// Finding on closed loops: whether they were slow for a time, in which they
// sent little, so that few of their RPCs show it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

// How many times as long users would wait as RPCs take. It is 1 for exponential
// service times, and 3 for lognormal times with a sigma of 1.3.
constexpr double kMuchLonger = 5;
constexpr double kMuchLongerNs = 1e6;
constexpr uint64_t kFewest = 1000;

// Whether a service's main list repeats the RPC and waits for it each time.
bool IsSentInClosedLoop(const DistributedSystemDescription& test,
                        const std::string& rpc) {
  const auto is_closed = [&](const std::string& action_name) {
    return std::any_of(
        test.actions().begin(), test.actions().end(),
        [&](const Action& action) {
          return action.name() == action_name && action.rpc_name() == rpc &&
                 action.has_iterations() &&
                 action.iterations().open_loop_interval_ns() <= 0;
        });
  };
  const auto is_service = [&](const std::string& name) {
    return std::any_of(
        test.services().begin(), test.services().end(),
        [&](const ServiceSpec& service) { return service.name() == name; });
  };
  return std::any_of(test.action_lists().begin(), test.action_lists().end(),
                     [&](const ActionList& list) {
                       return is_service(list.name()) &&
                              std::any_of(list.action_names().begin(),
                                          list.action_names().end(), is_closed);
                     });
}

struct Wait {
  double ns = 0;
  double time_share = 0;  // of the loop's time: taken by RPCs longer than `ns`
  double rpc_share = 0;   // of the RPCs: those that were longer than `ns`
};

// Returns the quantile of how long the RPC that is in flight at a random time
// still takes. In a loop that always has one in flight, the share of the time
// at which more than x is left is the sum of (s - x) over all service times
// s > x, divided by the sum of all s (the residual life of a renewal process;
// Cox, Renewal Theory, 1962, section 5.2).
Wait ResidualAtQuantile(const stats::LogHistogram& service_time_ns,
                        double quantile) {
  const std::vector<stats::LogHistogram::Bucket> buckets =
      service_time_ns.Buckets();
  const auto middle = [](const stats::LogHistogram::Bucket& bucket) {
    return (static_cast<double>(bucket.lower) +
            static_cast<double>(bucket.upper)) /
           2;
  };
  double total = 0;
  for (const auto& bucket : buckets) {
    total += middle(bucket) * static_cast<double>(bucket.count);
  }
  const double wanted = (1 - quantile) * total;
  double count = 0;  // of the longest RPCs
  double sum = 0;    // of their times
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    if (sum - count * middle(*bucket) >= wanted) break;
    count += static_cast<double>(bucket->count);
    sum += middle(*bucket) * static_cast<double>(bucket->count);
  }
  if (count == 0) return {};
  return {.ns = (sum - wanted) / count,
          .time_share = sum / total,
          .rpc_share = count / static_cast<double>(service_time_ns.count())};
}

}  // namespace

void JudgeStalls(const TestResult& result, const TestTotals& totals,
                 FindingList& findings) {
  for (const auto& [name, rpc] : totals.rpcs) {
    const stats::LogHistogram& service = rpc.service_time_ns;
    if (service.count() < kFewest ||
        !IsSentInClosedLoop(result.traffic_config(), name)) {
      continue;
    }
    const double p99 = static_cast<double>(service.ValueAtQuantile(0.99));
    const Wait wait = ResidualAtQuantile(service, 0.99);
    if (wait.ns < kMuchLonger * p99 || wait.ns < kMuchLongerNs) continue;
    findings.Add(
        Finding::WARN, "stalls",
        absl::StrCat(
            name, ": RPCs of more than ", Duration(wait.ns), " are only ",
            Percent(wait.rpc_share), " of all, but took ",
            Percent(wait.time_share),
            " of the time, in which the closed loop sent little else. If the "
            "server stalled, requests that arrive independently of it would "
            "have a 99th percentile of about ",
            Duration(wait.ns), ", not of ", Duration(p99),
            ". To measure that, send at a rate (open_loop_interval_ns)"));
  }
}

}  // namespace distbench::report
