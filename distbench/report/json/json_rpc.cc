#include "distbench/report/json/json_parts.h"

#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

// Enough for smooth curves on a screen.
constexpr int kPointsPerHalving = 24;

Json Bound(const std::optional<int64_t>& bound) {
  return bound ? OutcomeJson(*bound) : Json(nullptr);
}

Json PercentilesJson(const stats::Outcomes& outcomes,
                     const std::vector<stats::Outcomes>& blocks) {
  Json json = Json::array();
  for (const Percentile& percentile : EstimatePercentiles(outcomes, blocks)) {
    json.push_back({{"percentile", percentile.percent},
                    {"value_ns", OutcomeJson(percentile.value_ns)},
                    {"lower_ns", Bound(percentile.interval.lower)},
                    {"upper_ns", Bound(percentile.interval.upper)},
                    {"method", MethodName(percentile.interval.method)}});
  }
  return json;
}

// Percentiles and distribution cover all outcomes; minimum, mean, deviation and
// maximum cover those that succeeded, and are null if none did.
Json LatencyJson(const stats::Outcomes& outcomes,
                 const std::vector<stats::Outcomes>& blocks) {
  if (outcomes.count() == 0) return nullptr;
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  const auto of_succeeded = [&](auto value) {
    return latency_ns.count() > 0 ? Json(value()) : Json(nullptr);
  };
  Json json = {{"count", outcomes.count()},
               {"failed_count", outcomes.failed_count},
               {"overflow_count", latency_ns.overflow_count()},
               {"min_ns", of_succeeded([&] { return latency_ns.min(); })},
               {"mean_ns", of_succeeded([&] { return latency_ns.mean(); })},
               {"standard_deviation_ns",
                of_succeeded([&] { return latency_ns.standard_deviation(); })},
               {"max_ns", of_succeeded([&] { return latency_ns.max(); })},
               {"percentiles", PercentilesJson(outcomes, blocks)}};
  Json& distribution = json["distribution"] = Json::array();
  for (const CurvePoint& point :
       PercentileCurve(latency_ns, kPointsPerHalving)) {
    distribution.push_back({point.value, point.count_at_most});
  }
  return json;
}

Json OfferedJson(const std::optional<OfferedLoad>& offered) {
  if (!offered) return nullptr;
  return {{"offered_count", offered->offered_count()},
          {"unsent_count", offered->unsent_count()},
          {"held_back_count", offered->held_back_count()}};
}

Json StreamsJson(const std::optional<results::StreamTotals>& streams) {
  if (!streams) return nullptr;
  return {{"stream_count", streams->stream_count},
          {"request_messages", streams->request_messages},
          {"response_messages", streams->response_messages},
          {"request_bytes", streams->request_bytes},
          {"response_bytes", streams->response_bytes}};
}

}  // namespace

Json OutcomeJson(int64_t value_ns) {
  return value_ns == stats::Outcomes::kFailed ? Json("failed") : Json(value_ns);
}

Json RpcJson(const RpcMeasurements& rpc) {
  const results::RpcCounts& counts = rpc.totals.counts;
  Json json = {
      {"name", rpc.name},
      {"succeeded_count", counts.succeeded_count},
      {"failed_count", counts.failed_count},
      {"warmup_count", counts.warmup_count},
      {"request_bytes", counts.request_bytes},
      {"response_bytes", counts.response_bytes},
      {"dropped_sample_count", counts.dropped_sample_count},
      {"duration_ns", counts.duration_ns()},
      {"per_second", PerSecond(static_cast<double>(counts.succeeded_count),
                               counts.duration_ns())},
      {"offered_load", OfferedJson(rpc.offered)},
      {"streams", StreamsJson(rpc.streams)}};
  Json& failures = json["failures"] = Json::array();
  for (const auto& [cause, count] : rpc.failures) {
    failures.push_back({{"cause", cause}, {"count", count}});
  }
  json["service_time"] =
      LatencyJson(rpc.service_time, ServiceTimeBlocks(rpc.series));
  json["response_time"] =
      LatencyJson(rpc.response_time, ResponseTimeBlocks(rpc.series));
  json["lateness"] = LatencyJson({.latency_ns = rpc.totals.lateness_ns}, {});
  json["series_left_out"] = rpc.series.left_out_count;
  json["start_timestamp_ns"] =
      rpc.traffic ? Json(rpc.traffic->start_ns) : Json(nullptr);
  json["end_timestamp_ns"] =
      rpc.traffic ? Json(rpc.traffic->end_ns) : Json(nullptr);
  return json;
}

}  // namespace distbench::report
