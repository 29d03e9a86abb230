// Objectives: limits that a system must meet under load.
//
//   absl::StatusOr<Objective> p95 = ParseObjective("root_query p95<=500ms");

#ifndef DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_
#define DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/stats/metric.h"

namespace distbench::config {

// CPU time of the busiest host, as a share of all its CPUs.
struct HostCpu {};

// What the subject of an experiment kept, over the seconds beside its
// antagonist (docs/measuring.md, "Protection").
struct Isolation {
  enum class Kind {
    kGoodput,        // isol: its goodput, as a share of its baseline's
    kLatencyImpact,  // lat_imp: by which share its p95 exceeded its baseline's
  };
  Kind kind = Kind::kGoodput;

  // The percentile of the seconds; absent: their mean.
  std::optional<double> percent;

  // Requests that took longer are not goodput. From the experiment, not from
  // the objective's text.
  std::optional<int64_t> served_within_ns;
};

// A percentile of a time that is a part of a request: of the messages of RPCs
// that stream (docs/reports.md, "Streams"), or of the single attempts, and
// until a quorum was complete, of RPCs with a policy ("Policies").
struct PartTime {
  enum class Kind { kFirstMessage, kGap, kRoundTrip, kAttempt, kQuorum };
  Kind kind = Kind::kFirstMessage;
  double percent = 0;

  bool IsOfStream() const { return kind < Kind::kAttempt; }
};

// Returns a name such as "gap_p99", as reports have it.
std::string PartTimeName(const PartTime& time);

// One limit, such as "root_query p95<=500ms". Percentiles and means refer to
// the response time, or to the service time in closed loops, in nanoseconds.
// Failures, wasted attempts, CPU and isolation are shares (1 is 100 %); rates
// and goodput are per second; amplification is attempts per request.
struct Objective {
  std::string text;

  // Empty: the test's only RPC; the experiment's for Isolation; none for
  // HostCpu.
  std::string rpc;
  std::variant<stats::Metric, HostCpu, Isolation, PartTime> metric;
  bool is_upper_limit;
  double limit;  // positive
};

// The unit of the metric, and of its limit.
stats::MetricUnit UnitOf(const Objective& objective);

// Parses [RPC] METRIC<=LIMIT or METRIC>=LIMIT, cpu<=PERCENT%, or isolation such
// as isol_p05>=90%, isol_mean>=95% or lat_imp_p95<=20%. METRIC is one of
// stats/metric.h, or a PartTime such as first_message_p99 or attempt_p99; LIMIT
// is a duration (500ms), a share (0.1%), a rate (1000) or, for amplification, a
// number (1.2). Without an RPC, the test's only one is meant. INVALID_ARGUMENT
// says what is wrong and shows the correct form.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_
