// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints the table of false alarms in docs/arrivals.md: how often the finding
// `arrivals` is made about sends that follow their arrival process, each a
// little late, with each of 2000 seeds.
//
//   bazel run -c opt //distbench/report/findings/testing:false_alarms

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/test_totals.h"
#include "google/protobuf/text_format.h"

namespace distbench::report {
namespace {

constexpr int kSeeds = 2000;
constexpr int kRates[] = {20, 200};  // per second
constexpr int kSeconds[] = {12, 60};
constexpr int64_t kStartNs = 1'700'000'000'500'000'000;
constexpr double kMeanLatenessNs = 100'000;

struct AlarmRow {
  const char* name;
  const char* iterations;
};

constexpr AlarmRow kAlarmRows[] = {
    {"constant", ""},
    {"Poisson", "open_loop_interval_distribution: 'exponential'"},
    {"composed: Poisson", "arrivals {}"},
    {"composed: gamma, variation 3",
     "arrivals { process: 'gamma' coefficient_of_variation: 3 }"},
    {"composed: gamma, variation 10",
     "arrivals { process: 'gamma' coefficient_of_variation: 10 }"},
    {"composed: Poisson, Markov: 5 for 100 ms, 0.5 for 900 ms",
     "arrivals { modulations { markov { states { factor: 5 mean_duration_ns: "
     "100000000 } states { factor: 0.5 mean_duration_ns: 900000000 } } } }"},
};

TestResult MakeRun(const AlarmRow& row, int rate, int seconds, uint64_t seed) {
  TestResult result;
  google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("traffic_config { random_seed: ", seed,
                   " services { name: 'client' count: 1 }"
                   " rpc_descriptions { name: 'query' client: 'client' }"
                   " action_lists { name: 'client' action_names: 'run' }"
                   " actions { name: 'run' rpc_name: 'query' iterations {"
                   " open_loop_interval_ns: ",
                   base::kNsPerSecond / rate, " max_duration_us: ",
                   int64_t{1'000'000} * seconds, " ", row.iterations, " } } }"),
      &result);
  return result;
}

config::ArrivalPlan PlanOf(const Iterations& iterations) {
  Arrivals arrivals = iterations.arrivals();
  const bool is_constant =
      !iterations.has_arrivals() &&
      iterations.open_loop_interval_distribution() != "exponential";
  if (is_constant) arrivals.set_process("constant");
  return config::CompileArrivals(arrivals);
}

// Sends what is due, each a little late.
void SendLate(int seconds, uint64_t seed, TestResult& result) {
  const Iterations& iterations =
      result.traffic_config().actions(0).iterations();
  const config::ArrivalPlan plan = PlanOf(iterations);
  config::ArrivalStream stream(
      plan, static_cast<double>(iterations.open_loop_interval_ns()),
      {.seed = config::ArrivalSeed(seed, 0, 0, 0)});
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> lateness_ns(1 / kMeanLatenessNs);
  std::vector<int64_t> counts(seconds + 2, 0);
  const double length_ns = static_cast<double>(base::kNsPerSecond) * seconds;
  while (stream.time_ns() < length_ns) {
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    const int64_t sent_ns =
        kStartNs + static_cast<int64_t>(stream.time_ns() + lateness_ns(random));
    const int64_t second =
        sent_ns / base::kNsPerSecond - kStartNs / base::kNsPerSecond;
    if (second < std::ssize(counts)) ++counts[second];
    stream.Advance();
  }
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  log.set_traffic_start_timestamp_ns(kStartNs);
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(base::kNsPerSecond);
  for (int i = 0; i <= seconds; ++i) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(kStartNs / base::kNsPerSecond + i);
    interval.set_offered_count(counts[i]);
    interval.set_sent_count(counts[i]);
  }
}

bool IsAlarmed(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  FindingList findings;
  JudgeArrivals({result, totals}, findings);
  JudgeComposedArrivals({result, totals}, findings);
  return !findings.Take().empty();
}

void PrintAlarms() {
  std::printf("| arrivals | rate /s | seconds | false alarms of %d |\n",
              kSeeds);
  std::printf("|---|---|---|---|\n");
  for (const AlarmRow& row : kAlarmRows) {
    for (const int rate : kRates) {
      for (const int seconds : kSeconds) {
        int alarms = 0;
        for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
          TestResult result = MakeRun(row, rate, seconds, seed);
          SendLate(seconds, seed, result);
          alarms += IsAlarmed(result) ? 1 : 0;
        }
        std::printf("| %s | %d | %d | %d |\n", row.name, rate, seconds, alarms);
      }
    }
  }
}

}  // namespace
}  // namespace distbench::report

int main() { distbench::report::PrintAlarms(); }
