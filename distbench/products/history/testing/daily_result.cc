// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/testing/daily_result.h"

#include <cstdint>

#include "distbench/report/testing/example_result.h"

namespace distbench::history {
namespace {

constexpr int64_t kFirstDayNs = 1'700'000'000'000'000'000;
constexpr int64_t kDayNs = 86'400'000'000'000;

}  // namespace

TestResult MakeDailyResult(int day, double slowness) {
  report::ExampleOptions options;
  options.name = "example";
  options.clients = options.servers = options.rpcs = 1;
  options.seconds = 2;
  options.seed = 100 + day;
  options.slowness = slowness;
  TestResult result = report::MakeExampleResult(options);
  RunInfo& info = *result.mutable_run_info();
  info.clear_failure();
  info.clear_findings();
  info.set_start_timestamp_ns(kFirstDayNs + day * kDayNs);
  info.set_end_timestamp_ns(info.start_timestamp_ns() + 2'000'000'000);
  return result;
}

}  // namespace distbench::history
