// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The parts of Judge(), by subject.

#ifndef DISTBENCH_REPORT_FINDINGS_JUDGE_PARTS_H_
#define DISTBENCH_REPORT_FINDINGS_JUDGE_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/results/walk.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns "seconds" or, for example, "intervals of 4 s".
std::string Intervals(int64_t interval_ns);

// What to do if sends do not follow the arrival process.
inline constexpr absl::string_view kArrivalsAdvice =
    "Stop other programs on the client's host, give the client CPUs of its "
    "own, "
    "or let it spin (delay_actions_by_spinning).";

// Of what the percentiles in a finding are, to follow "time", if any RPCs
// failed: those of tables rank these above all others.
inline absl::string_view OfThoseThatSucceeded(uint64_t failed_count) {
  return failed_count == 0 ? "" : " of RPCs that succeeded";
}

// What is judged. The totals are the result's.
struct JudgedRun {
  const TestResult& result;
  const TestTotals& totals;

  // The name of an RPC by its position, and its offered load.
  std::string NameOf(int rpc_index) const {
    return results::RpcName(result, rpc_index);
  }
  OfferedLoad LoadOf(int rpc_index) const {
    return totals.load(NameOf(rpc_index));
  }
};

// Whether an in-flight cap or full send queues, rather than the generator,
// determined when RPCs were sent.
bool IsHeldBack(const OfferedLoad& load);

// An open loop of a main list: an action, and its place.
struct SendingLoop {
  const Action* action;
  int list;
  int position;
};

// Returns how the service's main list sends the RPC. Absent unless that is the
// only action that sends it, at a rate and to a number of targets that is not
// drawn.
std::optional<SendingLoop> OnlyLoopOf(const DistributedSystemDescription& test,
                                      const std::string& service,
                                      const std::string& rpc);

// Returns the sends of each interval except the first and the last in which
// requests were due, which are incomplete; of the first `most` of them.
std::vector<double> SentPerInterval(const RpcTimeSeries& series, int64_t most);

// The parts that are not in findings.cc.
void JudgeLoad(const JudgedRun& run, FindingList& findings);
void JudgeLateness(const JudgedRun& run, FindingList& findings);
void JudgeArrivals(const JudgedRun& run, FindingList& findings);
void JudgeComposedArrivals(const JudgedRun& run, FindingList& findings);
void JudgeStalls(const JudgedRun& run, FindingList& findings);
void JudgeMetastable(const JudgedRun& run, FindingList& findings);
void JudgeSteadiness(const JudgedRun& run, FindingList& findings);
void JudgeWireTimes(const JudgedRun& run, FindingList& findings);
void JudgeTimeParts(const JudgedRun& run, FindingList& findings);
void JudgeHosts(const JudgedRun& run, FindingList& findings);
void JudgeRequirements(const JudgedRun& run, FindingList& findings);
void JudgeBindings(const JudgedRun& run, FindingList& findings);
void JudgeNetworkSettings(const JudgedRun& run, FindingList& findings);
void JudgeFaults(const JudgedRun& run, FindingList& findings);
void JudgeClocks(const JudgedRun& run, FindingList& findings);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_JUDGE_PARTS_H_
