// A test's statistics, added up in the ways that reports show them.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench {

// Bytes of succeeded RPCs that an instance sent and received, as a client and
// as a server.
struct InstanceTraffic {
  int64_t sent_bytes = 0;
  int64_t received_bytes = 0;
};

// Maps are sorted by name.
struct TestTotals {
  // Key: RPC. Those of the config are here even if nobody sent them.
  std::map<std::string, RpcTotals> rpcs;

  // Key: RPC, then cause. Adds up to the RPC's failed_count.
  std::map<std::string, std::map<std::string, int64_t>> failures;

  // Key: client and server.
  std::map<std::pair<std::string, std::string>, RpcCounts> pairs;

  // Key: instance. Those that sent or were sent RPCs.
  std::map<std::string, InstanceTraffic> instances;

  RpcCounts all;

  // The longest time from the first send to the last completion of any pair; 0
  // if nothing succeeded. Clocks of different clients are not compared.
  int64_t duration_ns = 0;

  // Logs that are left out because their statistics are not valid, and why the
  // first one is not. Results that were read or merged by this project's own
  // means have none.
  int invalid_log_count = 0;
  std::string first_invalid_log;
};

// Requires statistics: see results/statistics_from_samples.h.
TestTotals AddUp(const TestResult& result);

// How the RPCs that were sent ended, by their service times.
Outcomes ServiceTimeOf(const RpcTotals& rpc);

// How the RPCs of open loops ended, by their response times. RPCs that were due
// and never sent count as failed. Empty for an RPC of closed loops.
Outcomes ResponseTimeOf(const TestResult& result, const TestTotals& totals,
                        const std::string& rpc);

// A count or amount in a time, per second; 0 if the time is 0.
double PerSecond(double amount, int64_t duration_ns);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_
