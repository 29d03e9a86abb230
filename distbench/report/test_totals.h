// A test's statistics, added up in the ways that reports show them.

#ifndef DISTBENCH_REPORT_TEST_TOTALS_H_
#define DISTBENCH_REPORT_TEST_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
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

  // Clients, servers and RPCs between them; and those of which the client kept
  // moments instead of histograms.
  int64_t pair_count = 0;
  int64_t brief_pair_count = 0;

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

// What an RPC's response times are in open loops: of those that succeeded, and,
// as a lower bound of theirs, how long those that were never sent had waited.
LogHistogram ResponseTimeOf(const TestResult& result, const TestTotals& totals,
                            const std::string& rpc);

// A count or amount in a time, per second; 0 if the time is 0.
double PerSecond(double amount, int64_t duration_ns);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TEST_TOTALS_H_
