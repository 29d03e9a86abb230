// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Totals of a test's statistics, grouped as reports show them.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Bytes of succeeded RPCs that an instance sent and received, as a client and
// as a server.
struct InstanceTraffic {
  int64_t sent_bytes = 0;
  int64_t received_bytes = 0;
};

// The server of RPCs whose client was lost before it said whom it had called.
inline constexpr char kUnknownServer[] = "unknown";

// Whether pooled statistics count such RPCs. Otherwise they only have the
// histograms for which there was no memory by server.
bool CountsRpcs(const RpcStatistics& pooled);

// Maps are sorted by name.
struct TestTotals {
  // Keyed by RPC. Includes all RPCs of the config, even those never sent.
  std::map<std::string, results::RpcTotals> rpcs;

  // Keyed by RPC, then cause. The counts add up to the RPC's failed_count.
  std::map<std::string, std::map<std::string, int64_t>> failures;

  // Keyed by client and server, or kUnknownServer.
  std::map<std::pair<std::string, std::string>, results::RpcCounts> pairs;

  // Keyed by instance; only those that sent or received RPCs.
  std::map<std::string, InstanceTraffic> instances;

  results::RpcCounts all;

  // The number of combinations of client, server and RPC, and of those for
  // which the client kept moments instead of histograms.
  int64_t pair_count = 0;
  int64_t brief_pair_count = 0;

  // The longest time from the first send to the last completion of any pair
  // (see RpcStatistics); 0 if nothing was sent. Clocks of different clients are
  // not compared.
  int64_t duration_ns = 0;

  // What each client recorded for all its servers together, added up over the
  // clients, keyed by RPC: the attempts of those with a policy, the messages of
  // those that stream, and the offered load of open loops.
  std::map<std::string, PolicyStatistics> attempts;
  std::map<std::string, StreamStatistics> streams;
  std::map<std::string, OfferedLoad> offered;

  // What is left out because its numbers are damaged, or too large to add to
  // those before it, so that it does not hide the others, and why: "query from
  // client/0 to server/1: ...".
  std::vector<std::string> damaged_logs;

  // Empty in closed loops.
  OfferedLoad load(const std::string& rpc) const;
};

// Requires statistics (see results/legacy_results.h).
TestTotals AddUp(const TestResult& result);

// The outcomes of the RPCs that were sent, by service time.
stats::Outcomes ServiceTimeOf(const results::RpcTotals& rpc);

// How many RPCs of open loops failed, each counted once: those that were due
// and did not succeed. Some of them, which waited in a full send queue until
// their deadline, are in both failed_count and the load's unsent_count; others
// of failed_count may be of closed loops or of handlers. Without an offered
// load, as in results that do not record it, all that failed. 0 if nothing was
// due and nothing has a response time, as of closed loops.
uint64_t OpenLoopFailures(const OfferedLoad& load, uint64_t response_count,
                          int64_t failed_count);

// The outcomes of the RPCs of open loops, by response time. RPCs that were due
// but never sent count as failed. Empty for RPCs of closed loops.
stats::Outcomes ResponseTimeOf(const TestTotals& totals,
                               const std::string& rpc);

// An amount per second; 0 if the duration is 0.
double PerSecond(double amount, int64_t duration_ns);

// The sum over all instances of a counter that drivers have; 0 if none has it.
int64_t DriverCounter(const TestResult& result, const std::string& name);

// Totals of an activity over instances, including the warm-up.
struct ActivityTotals {
  int64_t instance_count = 0;
  std::map<std::string, int64_t> metrics;  // sums; checksums modulo 2^64

  // Empty in results of versions that did not measure them.
  stats::LogHistogram duration_ns;
  stats::LogHistogram queueing_ns;

  // 0 if no instance has it.
  int64_t metric(const std::string& name) const;

  // Ignores damaged histograms.
  void Add(const ActivityLog& log);
};

// Totals over all instances, by the activity's name.
std::map<std::string, ActivityTotals> AddUpActivities(const TestResult& result);

// Visits the log of each instance and activity, in the order of their names.
void ForEachActivity(
    const TestResult& result,
    absl::FunctionRef<void(const std::string& instance,
                           const std::string& activity, const ActivityLog& log)>
        visit);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TEST_TOTALS_H_
