// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A result without findings, for tests that provoke one.

#ifndef DISTBENCH_REPORT_FINDINGS_TESTING_JUDGE_TESTING_H_
#define DISTBENCH_REPORT_FINDINGS_TESTING_JUDGE_TESTING_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::report {

// The run starts at this second of Unix time and takes so many.
inline constexpr int64_t kJudgedFirstSecond = 1'700'000'000;
inline constexpr int kJudgedSeconds = 30;

// A histogram of `count` equal values.
Histogram Repeated(int64_t value, int64_t count);

// A run without findings: an open loop of 100 RPCs per second, on its own host
// of four CPUs.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest();

  // The only client's.
  ServicePerformanceLog& Log();
  OfferedLoad& Load();
  RpcTimeSeries& Series();
  RpcStatistics& Statistics();
  Iterations& Loop();

  // The only node's, and those of its first second.
  NodeResources& Resources();
  HostCounters& Counters();

  // Turns the run into a closed loop.
  void CloseLoop();

  // Sets the requests of each second, which are numbered from 0.
  void SendPerSecond(const std::function<int64_t(int)>& count);

  // The same for four times as long, in intervals of 4 s.
  void WidenIntervals();

  // One RPC takes so long.
  void SlowestTakes(int64_t response_time_ns);

  void UseCpus(int64_t host_ns, int64_t process_ns);

  void ClockFor(const std::string& node, int64_t error_ns);

  void ExpectNothing();

  // Expects exactly this finding, with advice; returns its message.
  std::string ExpectOne(Finding::Severity severity, absl::string_view code);

  // The finding; an empty one if there is none.
  Finding Find(absl::string_view code);

  TestResult result_;
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_TESTING_JUDGE_TESTING_H_
