// Finding on steadiness: whether latencies had settled when the warm-up ended.

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {
namespace {

// Geweke's diagnostic (Evaluating the accuracy of sampling-based approaches to
// the calculation of posterior moments, 1992) compares the first part of a
// series with its last half. Here the series are the median service times of
// the seconds. The limits are wide, because seconds are not independent.
constexpr double kFirstPart = 0.2;
constexpr double kLastPart = 0.5;
constexpr double kBeyondChance = 6;
constexpr double kMuchDifference = 0.2;
constexpr size_t kFewestSeconds = 10;
constexpr uint64_t kFewestPerSecond = 10;

struct Second {
  bool warmup = false;
  LogHistogram service_time_ns;
};

// All clients together, keyed by second.
std::map<int64_t, Second> SecondsOf(const TestResult& result, int rpc_index) {
  std::map<int64_t, Second> seconds;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    const auto series = log.rpc_time_series().find(rpc_index);
    if (series == log.rpc_time_series().end()) continue;
    for (const RpcInterval& interval : series->second.intervals()) {
      Second& second = seconds[interval.index()];
      second.warmup |= interval.warmup_count() > 0;
      if (!interval.has_service_time_ns()) continue;
      // Series are validated when they are merged.
      AddHistogram(interval.service_time_ns(), second.service_time_ns)
          .IgnoreError();
    }
  }
  return seconds;
}

// The medians of the complete seconds after the warm-up, in nanoseconds.
std::vector<double> Medians(const std::map<int64_t, Second>& seconds) {
  std::vector<double> medians;
  if (seconds.size() < 3) return medians;
  const int64_t first = seconds.begin()->first;
  const int64_t last = seconds.rbegin()->first;
  for (const auto& [index, second] : seconds) {
    if (second.warmup) medians.clear();
    if (index == first || index == last || second.warmup) continue;
    if (second.service_time_ns.count() < kFewestPerSecond) continue;
    medians.push_back(
        static_cast<double>(second.service_time_ns.ValueAtQuantile(0.5)));
  }
  return medians;
}

double Mean(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

double Deviation(const std::vector<double>& values, size_t begin, size_t end) {
  const double mean = Mean(values, begin, end);
  double squares = 0;
  for (size_t i = begin; i < end; ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
  }
  return std::sqrt(squares / static_cast<double>(end - begin - 1));
}

void JudgeMedians(const std::string& name, const std::vector<double>& medians,
                  FindingList& findings) {
  const size_t count = medians.size();
  if (count < kFewestSeconds) return;
  const size_t first = static_cast<size_t>(kFirstPart * count);
  const size_t last = static_cast<size_t>(kLastPart * count);
  const double early = Mean(medians, 0, first);
  const double late = Mean(medians, count - last, count);
  const double error = Deviation(medians, count - last, count) *
                       std::sqrt(1.0 / first + 1.0 / last);
  const double difference = std::abs(early - late);
  if (difference < kBeyondChance * error ||
      difference < kMuchDifference * late) {
    return;
  }
  findings.Add(
      Finding::WARN, "not_steady",
      absl::StrCat(name, ": in the first ", first,
                   " s after the warm-up the median service time was ",
                   Duration(early), ", in the last ", last, " s ",
                   Duration(late),
                   " (Geweke's diagnostic on the medians of seconds). It had "
                   "not settled when measuring began. Lengthen the warm-up, or "
                   "find out what changed"));
}

}  // namespace

void JudgeSteadiness(const TestResult& result, FindingList& findings) {
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    JudgeMedians(RpcName(result, i), Medians(SecondsOf(result, i)), findings);
  }
}

}  // namespace distbench
