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
#include "proto/results.pb.h"

namespace distbench::report {

// Returns "seconds" or, for example, "intervals of 4 s".
std::string Intervals(int64_t interval_ns);

// What to do if sends do not follow the arrival process.
inline constexpr absl::string_view kArrivalsAdvice =
    "Stop other programs on the client's host, give the client CPUs of its "
    "own, "
    "or let it spin (delay_actions_by_spinning).";

// The offered load of one RPC in open loops, over all its clients; 0 in closed
// loops.
OfferedLoad LoadOf(const TestResult& result, int rpc_index);

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

void JudgeLoad(const TestResult& result, FindingList& findings);
void JudgeLateness(const TestResult& result, const TestTotals& totals,
                   FindingList& findings);
void JudgeArrivals(const TestResult& result, FindingList& findings);
void JudgeComposedArrivals(const TestResult& result, FindingList& findings);
void JudgeLosses(const TestResult& result, FindingList& findings);
void JudgeRecording(const TestResult& result, const TestTotals& totals,
                    FindingList& findings);
void JudgeStalls(const TestResult& result, const TestTotals& totals,
                 FindingList& findings);
void JudgeMetastable(const TestResult& result, FindingList& findings);
void JudgeSteadiness(const TestResult& result, FindingList& findings);
void JudgeOutcome(const TestResult& result, const TestTotals& totals,
                  FindingList& findings);
void JudgeTimeParts(const TestResult& result, const TestTotals& totals,
                    FindingList& findings);
void JudgeActivities(const TestResult& result, FindingList& findings);
void JudgeHosts(const TestResult& result, const TestTotals& totals,
                FindingList& findings);
void JudgeRequirements(const TestResult& result, FindingList& findings);
void JudgeBindings(const TestResult& result, FindingList& findings);
void JudgeNetworkSettings(const TestResult& result, FindingList& findings);
void JudgeFaults(const TestResult& result, FindingList& findings);
void JudgeClocks(const TestResult& result, FindingList& findings);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_JUDGE_PARTS_H_
