// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/conservation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/human_units.h"
#include "distbench/base/time_units.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/run_interval.h"
#include "google/protobuf/message.h"

namespace distbench::report {
namespace {

// Histograms are exact to one part in so many, and figures made of floating
// point numbers to very little.
constexpr double kResolution = 1.0 / 128;
constexpr double kRounding = 1e-6;

class Laws {
 public:
  // What the next laws are about.
  void At(std::string place) { place_ = std::move(place); }

  void Equal(absl::string_view what, int64_t found, absl::string_view of,
             int64_t whole) {
    if (found != whole) Broken(what, " ", found, ", ", of, " ", whole);
  }

  void AtMost(absl::string_view what, double found, absl::string_view of,
              double limit) {
    if (found > limit) {
      Broken(what, " ", base::NumberInFull(found), " is more than ", of, " ",
             base::NumberInFull(limit));
    }
  }

  void Near(absl::string_view what, double found, absl::string_view of,
            double expected, double tolerance) {
    if (!(std::abs(found - expected) <= tolerance)) {
      Broken(what, " ", base::NumberInFull(found), ", ", of, " ",
             base::NumberInFull(expected));
    }
  }

  void Share(absl::string_view what, double share) {
    if (!(share >= 0 && share <= 1)) Broken(what, " ", share, " is no share");
  }

  template <typename... Parts>
  void Broken(const Parts&... parts) {
    broken_.push_back(absl::StrCat(place_, ": ", parts...));
  }

  std::vector<std::string> TakeBroken() { return std::move(broken_); }

 private:
  std::string place_;
  std::vector<std::string> broken_;
};

// The counts and the rate that parts of a test have, in several messages.

double PerSecondOf(const Report::Traffic& part) {
  return part.succeeded_per_second();
}
double PerSecondOf(const Report::Counts& part) { return part.per_second(); }

struct Sum {
  template <typename Part>
  void Add(const Part& part) {
    succeeded += part.succeeded();
    failed += part.failed();
    per_second += PerSecondOf(part);
  }
  int64_t succeeded = 0;
  int64_t failed = 0;
  double per_second = 0;
};

using SumsByRpc = std::map<std::string, Sum>;

// ---- Times ------------------------------------------------------------------

void CheckInterval(const Report::Percentile& percentile, Laws& laws) {
  const std::string name = absl::StrCat("p", percentile.percentile());
  if (percentile.has_lower_ns() && percentile.has_value_ns()) {
    laws.AtMost(absl::StrCat("lower bound of ", name), percentile.lower_ns(),
                "the estimate", percentile.value_ns());
  }
  if (percentile.has_upper_ns() && percentile.has_value_ns()) {
    laws.AtMost(name, percentile.value_ns(), "its upper bound",
                percentile.upper_ns());
  }
  if (percentile.lower_failed() && !percentile.failed()) {
    laws.Broken("the lower bound of ", name, " failed, but not the estimate");
  }
}

void CheckPercentiles(const Report::Latency& latency, Laws& laws) {
  const Report::Percentile* before = nullptr;
  for (const Report::Percentile& each : latency.percentiles()) {
    const std::string name = absl::StrCat("p", each.percentile());
    CheckInterval(each, laws);
    if (each.failed() == each.has_value_ns()) {
      laws.Broken(name, " has ", each.failed() ? "failed, and a" : "no",
                  " value");
    }
    if (each.has_value_ns()) {
      laws.AtMost(name, each.value_ns(), "the maximum",
                  latency.max_ns() * (1 + kResolution));
      laws.AtMost("the minimum", latency.min_ns() * (1 - kResolution), name,
                  each.value_ns());
    }
    if (before != nullptr && before->failed() && !each.failed()) {
      laws.Broken("p", before->percentile(), " failed, but not ", name);
    }
    if (before != nullptr && before->has_value_ns() && each.has_value_ns()) {
      laws.AtMost(absl::StrCat("p", before->percentile()), before->value_ns(),
                  name, each.value_ns());
    }
    before = &each;
  }
}

void CheckLatency(const Report::Latency& latency, Laws& laws) {
  const int64_t succeeded = latency.count() - latency.failed_count();
  laws.AtMost("failed", latency.failed_count(), "all", latency.count());
  if (latency.has_mean_ns()) {
    laws.AtMost("the mean", latency.mean_ns(), "the maximum",
                latency.max_ns() * (1 + kRounding));
    laws.AtMost("the minimum", latency.min_ns() * (1 - kRounding), "the mean",
                latency.mean_ns());
  } else {
    laws.Equal("without a mean: succeeded", succeeded, "of which there are", 0);
  }
  CheckPercentiles(latency, laws);
  int64_t at_most = 0;
  for (const Report::Point& point : latency.distribution()) {
    laws.AtMost("the distribution falls:", at_most, "the next count",
                point.count_at_most());
    at_most = point.count_at_most();
  }
  laws.Equal("the distribution ends with", at_most, "succeeded", succeeded);
}

// ---- RPCs -------------------------------------------------------------------

void CheckFailures(const Report::Rpc& rpc, Laws& laws) {
  int64_t sum = 0;
  for (const Report::Failures& failures : rpc.failures()) {
    sum += failures.count();
  }
  laws.Equal("failures by cause add up to", sum, "failed", rpc.failed_count());
}

// What was due succeeded, failed or was never sent. What an instance was
// sending when it was lost did none of these.
void CheckOffered(const Report::Rpc& rpc, bool is_whole, Laws& laws) {
  const Report::Offered& load = rpc.offered_load();
  if (load.offered_count() == 0) return;
  const auto offered = static_cast<double>(load.offered_count());
  laws.AtMost("unsent", load.unsent_count(), "offered", offered);
  laws.AtMost("held back", load.held_back_count(), "offered", offered);
  const int64_t response_times = rpc.response_time().count();
  if (is_whole) {
    laws.Equal("response times, with those that failed or were never sent,",
               response_times, "offered", load.offered_count());
  } else {
    laws.AtMost("response times", response_times, "offered", offered);
  }
}

void CheckRpc(const Report::Rpc& rpc, bool is_whole, Laws& laws) {
  laws.At(rpc.name());
  CheckFailures(rpc, laws);
  CheckOffered(rpc, is_whole, laws);
  if (rpc.has_service_time()) {
    laws.Equal("service times", rpc.service_time().count(),
               "succeeded and failed",
               rpc.succeeded_count() + rpc.failed_count());
    laws.Equal("service times that failed", rpc.service_time().failed_count(),
               "failed", rpc.failed_count());
  }
  const double seconds = base::ToSeconds(rpc.duration_ns());
  if (seconds <= 0) {
    laws.Equal("without a duration: succeeded", rpc.succeeded_count(),
               "of which there are", 0);
  } else {
    const double expected =
        static_cast<double>(rpc.succeeded_count()) / seconds;
    laws.Near("per second", rpc.per_second(), "succeeded over the duration are",
              expected, expected * kRounding);
  }
  for (const auto& [name, latency] :
       {std::pair{"service time", &rpc.service_time()},
        std::pair{"response time", &rpc.response_time()},
        std::pair{"lateness", &rpc.lateness()}}) {
    if (latency->count() == 0) continue;
    laws.At(absl::StrCat(rpc.name(), ", ", name));
    CheckLatency(*latency, laws);
  }
}

// ---- Parts and their sums ---------------------------------------------------

void CheckTotals(const Report::Test& test, Laws& laws) {
  laws.At("totals");
  const auto check = [&](absl::string_view what, auto count_of) {
    int64_t sum = 0;
    for (const Report::Rpc& rpc : test.rpcs()) sum += count_of(rpc);
    laws.Equal(what, count_of(test.totals()), "of all RPCs", sum);
  };
  check("succeeded", [](const auto& each) { return each.succeeded_count(); });
  check("failed", [](const auto& each) { return each.failed_count(); });
  check("warm-up", [](const auto& each) { return each.warmup_count(); });
  check("bytes of requests",
        [](const auto& each) { return each.request_bytes(); });
  check("bytes of responses",
        [](const auto& each) { return each.response_bytes(); });
}

// Whether the parts of each RPC add up to it.
void CheckSums(absl::string_view parts, const SumsByRpc& sums,
               const Report::Test& test, Laws& laws) {
  for (const Report::Rpc& rpc : test.rpcs()) {
    const auto found = sums.find(rpc.name());
    const Sum sum = found == sums.end() ? Sum() : found->second;
    laws.At(rpc.name());
    laws.Equal(absl::StrCat(parts, " succeeded"), sum.succeeded, "all of it",
               rpc.succeeded_count());
    laws.Equal(absl::StrCat(parts, " failed"), sum.failed, "all of it",
               rpc.failed_count());
    laws.Near(absl::StrCat(parts, " per second"), sum.per_second, "all of it",
              rpc.per_second(), rpc.per_second() * kRounding);
  }
}

void CheckParts(const Report::Test& test, Laws& laws) {
  SumsByRpc edges;
  for (const Report::Edge& edge : test.topology().edges()) {
    edges[edge.rpc()].Add(edge.traffic());
  }
  CheckSums("edges", edges, test, laws);
  if (test.topology().instances().rows_left_out() == 0) {
    SumsByRpc clients;
    for (const auto& row : test.topology().instances().rows()) {
      if (row.role() == "client") clients[row.rpc()].Add(row.traffic());
    }
    CheckSums("clients", clients, test, laws);
  }
  if (test.peers().rows_left_out() == 0) {
    SumsByRpc pairs;
    for (const auto& row : test.peers().rows()) {
      pairs[row.rpc()].Add(row.counts());
    }
    CheckSums("pairs", pairs, test, laws);
  }
}

// An RPC between two services only has the times of their edge.
void CheckTimesOfEdges(const Report::Test& test, Laws& laws) {
  std::map<std::string, std::vector<const Report::Traffic*>> edges;
  for (const Report::Edge& edge : test.topology().edges()) {
    edges[edge.rpc()].push_back(&edge.traffic());
  }
  for (const Report::Rpc& rpc : test.rpcs()) {
    const auto found = edges.find(rpc.name());
    if (found == edges.end() || found->second.size() != 1) continue;
    const Report::Traffic& traffic = *found->second[0];
    if (!traffic.has_latency_count()) continue;
    laws.At(rpc.name());
    const Report::Latency& latency = traffic.latency() == "response"
                                         ? rpc.response_time()
                                         : rpc.service_time();
    laws.Equal("latencies of its edge", traffic.latency_count(), "of the RPC",
               latency.count());
    for (const Report::Percentile& each : latency.percentiles()) {
      const auto& times = traffic.times();
      if (each.percentile() == 50 && times.has_p50_ns()) {
        laws.Equal("p50 of its edge", times.p50_ns(), "of the RPC",
                   each.value_ns());
      } else if (each.percentile() == 99 && times.has_p99_ns()) {
        laws.Equal("p99 of its edge", times.p99_ns(), "of the RPC",
                   each.value_ns());
      }
    }
  }
}

// ---- Seconds ----------------------------------------------------------------

struct Series {
  int64_t ended = 0;
  int64_t warmup = 0;

  // After each interval: how many were sent and have not ended.
  std::vector<double> in_flight;
};

std::map<std::string, Series> SeriesOf(const Report::SecondTable& seconds) {
  std::map<std::string, Series> all;
  for (const auto& row : seconds.rows()) {
    Series& series = all[row.rpc()];
    const int64_t ended = row.succeeded() + row.failed();
    series.ended += ended;
    series.warmup += row.warmup();
    series.in_flight.push_back(
        (series.in_flight.empty() ? 0 : series.in_flight.back()) +
        static_cast<double>(row.sent() - ended));
  }
  return all;
}

// Fewer boundaries of seconds say too little about the mean between them.
constexpr size_t kFewestBoundaries = 10;

void CheckLittle(const Report::Rpc& rpc, const Series& series, Laws& laws) {
  if (rpc.warmup_count() > 0 || rpc.failed_count() > 0 ||
      series.in_flight.size() < kFewestBoundaries + 2 ||
      !rpc.service_time().has_mean_ns()) {
    return;
  }
  // Traffic covers neither the first nor the last second as a whole.
  const auto boundaries = absl::MakeConstSpan(series.in_flight)
                              .subspan(0, series.in_flight.size() - 1);
  const double error = std::sqrt(stats::Variance(boundaries) /
                                 static_cast<double>(boundaries.size()));
  const double expected =
      rpc.per_second() * rpc.service_time().mean_ns() / base::kNsPerSecond;
  laws.Near("mean in flight at the ends of seconds", stats::Mean(boundaries),
            "rate times service time is", expected,
            5 * error + 1 + expected * 0.05);
}

// Clocks of hosts that are further apart have a finding, and tests with such a
// clock may have seconds anywhere.
constexpr int64_t kClocksApartNs = base::kNsPerSecond;

bool ClocksDiffer(const Report::Test& test) {
  for (const Report::Finding& finding : test.findings()) {
    if (finding.code() == "clock_error") return true;
  }
  return false;
}

void CheckTimesOfSeconds(const Report::Test& test, Laws& laws) {
  const Report::Run& run = test.run();
  if (run.start_timestamp_ns() == 0 || ClocksDiffer(test)) return;
  for (const auto& row : test.seconds().rows()) {
    laws.At(row.rpc());
    const int64_t start_ns = row.start_timestamp_ns();
    const double end_ns =
        static_cast<double>(start_ns) + row.duration_s() * base::kNsPerSecond;
    if (end_ns <
            static_cast<double>(run.start_timestamp_ns() - kClocksApartNs) ||
        start_ns > run.end_timestamp_ns() + kClocksApartNs) {
      laws.Broken("the second at ", start_ns, " ns is not within the run, ",
                  run.start_timestamp_ns(), " to ", run.end_timestamp_ns());
      return;
    }
  }
}

void CheckSeconds(const Report::Test& test, Laws& laws) {
  CheckTimesOfSeconds(test, laws);
  if (test.seconds().rows_left_out() > 0) return;
  const std::map<std::string, Series> all = SeriesOf(test.seconds());
  for (const Report::Rpc& rpc : test.rpcs()) {
    const auto found = all.find(rpc.name());
    if (found == all.end() || rpc.series_left_out() > 0) continue;
    const Series& series = found->second;
    laws.At(rpc.name());
    laws.Equal("warm-up in seconds", series.warmup, "in all",
               rpc.warmup_count());
    laws.Equal("ended in seconds, without warm-up",
               series.ended - series.warmup, "in all",
               rpc.succeeded_count() + rpc.failed_count());
    CheckLittle(rpc, series, laws);
  }
}

// ---- Policies and objectives ------------------------------------------------

// Null if there is none.
template <typename Item>
const Item* Find(const google::protobuf::RepeatedPtrField<Item>& items,
                 const std::string& (Item::*name_of)() const,
                 const std::string& name) {
  const auto found = absl::c_find_if(
      items, [&](const Item& each) { return (each.*name_of)() == name; });
  return found == items.end() ? nullptr : &*found;
}

const Report::Rpc* FindRpc(const Report::Test& test, const std::string& name) {
  return Find(test.rpcs(), &Report::Rpc::name, name);
}

void CheckPolicies(const Report::Test& test, Laws& laws) {
  for (const auto& row : test.policies().rows()) {
    laws.At(absl::StrCat("policy of ", row.rpc()));
    const Report::Rpc* rpc = FindRpc(test, row.rpc());
    // Of an instance that was lost, only RPCs are known.
    if (rpc != nullptr && !test.has_failure()) {
      laws.AtMost(
          "succeeded, failed or not needed",
          rpc->succeeded_count() + rpc->failed_count() + row.not_needed(),
          "requests", row.requests());
    }
    laws.AtMost("attempts", row.attempts(), "requests, retries and hedges",
                row.requests() + row.retries() + row.hedges());
    laws.Equal("attempts that succeeded, failed or were given up",
               row.succeeded_attempts() + row.failed_attempts() +
                   row.abandoned_attempts(),
               "attempts", row.attempts());
    laws.AtMost("hedges that won", row.hedges_won(), "hedges", row.hedges());
    laws.AtMost("attempts that were not cancelled", row.uncancelled_attempts(),
                "those given up", row.abandoned_attempts());
    if (row.has_wasted()) laws.Share("wasted", row.wasted());
  }
}

std::optional<double> PercentileOf(const Report::Latency& latency,
                                   double percent) {
  for (const Report::Percentile& each : latency.percentiles()) {
    if (each.percentile() == percent && each.has_value_ns()) {
      return each.value_ns();
    }
  }
  return std::nullopt;
}

// What the report has of a metric of an RPC, and `policy`, which may be null.
std::optional<double> FigureOf(const stats::Metric& metric,
                               const Report::Rpc& rpc,
                               const Report::PolicyTable::Row* policy) {
  const Report::Latency& latency =
      rpc.has_response_time() ? rpc.response_time() : rpc.service_time();
  if (latency.count() == 0) return std::nullopt;
  using Kind = stats::Metric::Kind;
  switch (metric.kind) {
    case Kind::kPercentile:
      return PercentileOf(latency, metric.percent);
    case Kind::kMean:
      return latency.mean_ns();
    case Kind::kRate:
      return rpc.per_second();
    case Kind::kFailures:
      return static_cast<double>(latency.failed_count()) /
             static_cast<double>(latency.count());
    default:
      break;
  }
  if (policy == nullptr) return std::nullopt;
  switch (metric.kind) {
    case Kind::kGoodput:
      return policy->goodput_per_second();
    case Kind::kAmplification:
      return policy->amplification();
    case Kind::kWasted:
      return policy->wasted();
    default:
      return std::nullopt;
  }
}

// An objective is about figures that the report has elsewhere, too.
void CheckMeasurement(const Report::Objective& judged, const Report::Test& test,
                      Laws& laws) {
  const auto objective = config::ParseObjective(judged.objective());
  if (!objective.ok() || !judged.has_measured()) return;
  const bool is_only = objective->rpc.empty() && test.rpcs_size() == 1;
  const Report::Rpc* rpc =
      is_only ? &test.rpcs(0) : FindRpc(test, objective->rpc);
  if (rpc == nullptr) return;
  const std::optional<double> figure =
      FigureOf(objective->metric, *rpc,
               Find(test.policies().rows(), &Report::PolicyTable::Row::rpc,
                    rpc->name()));
  if (figure) {
    laws.Near("the measurement", judged.measured(), "elsewhere it is", *figure,
              *figure * kRounding);
  }
}

void CheckObjectives(const Report::Test& test, Laws& laws) {
  for (const Report::Objective& each : test.objectives()) {
    laws.At(absl::StrCat("objective ", each.objective()));
    CheckMeasurement(each, test, laws);
    if (each.has_lower() && each.has_measured()) {
      laws.AtMost("the lower bound", each.lower(), "the measurement",
                  each.measured() * (1 + kRounding));
    }
    if (each.has_upper() && each.has_measured()) {
      laws.AtMost("the measurement", each.measured() * (1 - kRounding),
                  "the upper bound", each.upper());
    }
    if (each.has_measured() && each.unit() == "share" &&
        !each.objective().starts_with("cpu")) {
      laws.Share("the measurement", each.measured());
    }
  }
}

// ---- Numbers ----------------------------------------------------------------

// In the message, and in those within it.
void CheckNumbers(const google::protobuf::Message& message, Laws& laws) {
  const google::protobuf::Reflection& fields = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> set;
  fields.ListFields(message, &set);
  for (const google::protobuf::FieldDescriptor* field : set) {
    using Field = google::protobuf::FieldDescriptor;
    if (field->cpp_type() == Field::CPPTYPE_DOUBLE && !field->is_repeated()) {
      const double value = fields.GetDouble(message, field);
      if (!std::isfinite(value)) laws.Broken(field->full_name(), " is ", value);
    }
    if (field->cpp_type() != Field::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      CheckNumbers(fields.GetMessage(message, field), laws);
      continue;
    }
    for (int i = 0; i < fields.FieldSize(message, field); ++i) {
      CheckNumbers(fields.GetRepeatedMessage(message, field, i), laws);
    }
  }
}

}  // namespace

std::vector<std::string> BrokenLaws(const Report::Test& test) {
  Laws laws;
  for (const Report::Rpc& rpc : test.rpcs()) {
    CheckRpc(rpc, !test.has_failure(), laws);
  }
  CheckTotals(test, laws);
  CheckParts(test, laws);
  CheckTimesOfEdges(test, laws);
  CheckSeconds(test, laws);
  CheckPolicies(test, laws);
  CheckObjectives(test, laws);
  laws.At("numbers");
  CheckNumbers(test, laws);
  return laws.TakeBroken();
}

}  // namespace distbench::report
