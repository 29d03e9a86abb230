// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Findings on hosts.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// ---- cpu_saturated, other_load ----------------------------------------------

TEST_F(JudgeTest, AnOpenLoopThatSaturatesItsHostIsAWarning) {
  UseCpus(4 * base::kNsPerSecond, 4 * base::kNsPerSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "cpu_saturated"),
              HasSubstr("host h were 100 % busy"));
}

TEST_F(JudgeTest, AnOpenLoopThatSaturatesAnotherHostIsANote) {
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other = Resources();
  other.mutable_host()->set_hostname("server-host");
  for (ResourceSample& sample : *other.mutable_samples()) {
    sample.set_host_cpu_ns(4 * base::kNsPerSecond);
    sample.set_process_cpu_ns(4 * base::kNsPerSecond);
  }
  EXPECT_THAT(ExpectOne(Finding::NOTE, "cpu_saturated"),
              HasSubstr("server-host were 100 % busy"));
}

// That is how it works, and nearly every run of one would have the finding.
TEST_F(JudgeTest, AClosedLoopMaySaturateItsHost) {
  CloseLoop();
  UseCpus(4 * base::kNsPerSecond, 4 * base::kNsPerSecond);
  ExpectNothing();
}

// Softirqs are also the test's own network traffic.
TEST_F(JudgeTest, InterruptsAreNoOtherPrograms) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  Counters().set_softirq_cpu_ns(kJudgedSeconds * base::kNsPerSecond / 4);
  ExpectNothing();
  Counters().set_softirq_cpu_ns(kJudgedSeconds * base::kNsPerSecond / 6);
  EXPECT_THAT(ExpectOne(Finding::WARN, "other_load"), HasSubstr("20.8 %"));
}

TEST_F(JudgeTest, OtherProgramsOnTheHostAreAWarning) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "other_load"), HasSubstr("25.0 %"));
}

TEST_F(JudgeTest, OtherNodesOnTheHostAreNotOthers) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  (*result_.mutable_resource_usage_logs()->mutable_node_resources())["node1"] =
      Resources();
  ExpectNothing();
}

TEST_F(JudgeTest, AHostThatUsesAllThatWasNotStolenIsSaturated) {
  UseCpus(3 * base::kNsPerSecond, 3 * base::kNsPerSecond);
  Counters().set_steal_cpu_ns(kJudgedSeconds * base::kNsPerSecond);
  const std::vector<Finding> findings = Judge(result_);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].code(), "cpu_saturated");
  EXPECT_EQ(findings[1].code(), "stolen");
}

// ---- brief_host -------------------------------------------------------------

TEST_F(JudgeTest, AShortTestSaysThatItDoesNotJudgeWhatItSawOfItsHost) {
  while (Resources().samples_size() > 1) {
    Resources().mutable_samples()->RemoveLast();
  }
  ExpectNothing();
  UseCpus(4 * base::kNsPerSecond, 4 * base::kNsPerSecond);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "brief_host"),
              HasSubstr("too short (1.00 s) to judge host h, but what it "
                        "measured says: the CPUs of host h were 100 % busy"));
}

// ---- waited_for_cpu ---------------------------------------------------------

// Other programs run for half of the time, on one of four CPUs.
TEST_F(JudgeTest, WaitingForACpuThatOthersHadIsAWarning) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(4 *
                                                         base::kNsPerSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "waited_for_cpu"),
              HasSubstr("waited for a CPU for 4.00 s in all, while other "
                        "programs ran for 15.0 s, within the 30.0 s since the "
                        "start of the traffic that were sampled"));
}

// Both have the same remedy.
TEST_F(JudgeTest, ThatOthersRanIsNotSaidBesideThatTheyKeptTheTestWaiting) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  Resources().mutable_samples(0)->set_run_queue_delay_ns(4 *
                                                         base::kNsPerSecond);
  ExpectOne(Finding::WARN, "waited_for_cpu");
}

TEST_F(JudgeTest, TheWorstHostOfAKindIsFirst) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  NodeResources other = Resources();
  other.mutable_host()->set_hostname("zulu");
  for (ResourceSample& sample : *other.mutable_samples()) {
    sample.set_process_cpu_ns(base::kNsPerSecond);
  }
  (*result_.mutable_resource_usage_logs()->mutable_node_resources())["node9"] =
      other;
  std::vector<std::string> messages;
  for (const Finding& finding : Judge(result_)) {
    if (finding.code() == "other_load") messages.push_back(finding.message());
  }
  ASSERT_EQ(messages.size(), 2);
  EXPECT_THAT(messages[0], HasSubstr("host zulu"));
}

TEST_F(JudgeTest, AShortWaitIsNothing) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(2 *
                                                         base::kNsPerSecond);
  ExpectNothing();
}

TEST_F(JudgeTest, ThreadsThatWaitForEachOtherAreNothing) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(20 *
                                                         base::kNsPerSecond);
  UseCpus(2 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  ExpectNothing();
}

TEST_F(JudgeTest, TheWaitsOfAllNodesOfAHostCount) {
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other.mutable_host()->CopyFrom(Resources().host());
  ResourceSample& sample = *other.add_samples();
  sample.set_run_queue_delay_ns(2 * base::kNsPerSecond);
  Resources().mutable_samples(0)->set_run_queue_delay_ns(2 *
                                                         base::kNsPerSecond);
  ExpectOne(Finding::WARN, "waited_for_cpu");
}

// ---- stolen -----------------------------------------------------------------

// 30 s of 4 CPUs.
constexpr int64_t kCapacity = 4 * kJudgedSeconds * base::kNsPerSecond;

TEST_F(JudgeTest, LittleStolenTimeIsNothing) {
  Counters().set_steal_cpu_ns(kCapacity * 4 / 1000);
  ExpectNothing();
}

TEST_F(JudgeTest, StolenTimeIsANote) {
  Counters().set_steal_cpu_ns(kCapacity * 6 / 1000);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "stolen"),
              HasSubstr("took 0.6 % of the CPU time of host h"));
}

TEST_F(JudgeTest, MuchStolenTimeIsAWarning) {
  Counters().set_steal_cpu_ns(kCapacity * 6 / 100);
  ExpectOne(Finding::WARN, "stolen");
}

// ---- throttled --------------------------------------------------------------

TEST_F(JudgeTest, AnyThrottlingIsANote) {
  Counters().set_throttled_count(1);
  Counters().set_throttled_ns(kJudgedSeconds * base::kNsPerSecond / 200);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "throttled"),
              HasSubstr("stopped it once, for 150 ms added up over its CPUs, "
                        "within the 30.0 s since the start of the traffic "
                        "that were sampled, so"));
}

TEST_F(JudgeTest, MuchThrottlingIsAWarning) {
  Counters().set_throttled_count(3);
  Counters().set_throttled_ns(kJudgedSeconds * base::kNsPerSecond / 50);
  ExpectOne(Finding::WARN, "throttled");
}

TEST_F(JudgeTest, ThrottlingOfAnyNodeOfAHostCounts) {
  UseCpus(3 * base::kNsPerSecond, 2 * base::kNsPerSecond);
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other = Resources();
  HostCounters& counters = *other.mutable_samples(0)->mutable_host_counters();
  counters.set_throttled_count(3);
  counters.set_throttled_ns(base::kNsPerSecond);
  ExpectOne(Finding::WARN, "throttled");
}

// ---- retransmits ------------------------------------------------------------

constexpr int64_t kTimeoutNs = 200'000'000;

TEST_F(JudgeTest, FewRetransmitsAreNothing) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(99);
  ExpectNothing();
}

TEST_F(JudgeTest, RetransmitsAreANote) {
  SlowestTakes(kTimeoutNs);
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(200);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "retransmits"),
              HasSubstr("host h sent 200 TCP segments again, 0.02 %"));
}

TEST_F(JudgeTest, ManyRetransmitsAreAWarning) {
  SlowestTakes(kTimeoutNs);
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  ExpectOne(Finding::WARN, "retransmits");
}

TEST_F(JudgeTest, RetransmitsAmongFewSegmentsAreANote) {
  SlowestTakes(kTimeoutNs);
  Counters().set_tcp_sent_segments(1000);
  Counters().set_tcp_retransmitted_segments(9);
  ExpectOne(Finding::NOTE, "retransmits");
}

// An undisturbed run over loopback has them, too.
TEST_F(JudgeTest, RetransmitsThatDelayedNothingAreNothing) {
  SlowestTakes(kTimeoutNs - 5'000'000);
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(3200);
  ExpectNothing();
}

TEST_F(JudgeTest, RpcsThatFailedMayHaveWaitedForATimeout) {
  Statistics().set_failed_count(1);
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  EXPECT_THAT(Find("retransmits").message(),
              HasSubstr("a timeout of 200 ms or more"));
}

// 30 samples in each of which the test's connections send 1000 segments.
DataConnections& FirstOfConnections(NodeResources& node) {
  for (ResourceSample& sample : *node.mutable_samples()) {
    sample.mutable_data_connections()->set_sent_segments(1000);
  }
  return *node.mutable_samples(0)->mutable_data_connections();
}

TEST_F(JudgeTest, RetransmitsOfOtherProgramsAreNothing) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  FirstOfConnections(Resources()).set_retransmitted_segments(3);
  ExpectNothing();
}

TEST_F(JudgeTest, ATestWithoutConnectionsHasNoRetransmits) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  Resources().mutable_samples(0)->mutable_data_connections();
  ExpectNothing();
}

void AddConnections(std::initializer_list<int> retransmitted_segments,
                    NodeResources& node) {
  for (const int retransmitted : retransmitted_segments) {
    DataConnection& connection = *node.add_data_connections();
    connection.set_local_address("10.0.0.1:40000");
    connection.set_peer_address(absl::StrCat("10.0.0.2:", retransmitted));
    connection.set_instance("client/0");
    connection.set_sent_segments(10'000);
    connection.set_retransmitted_segments(retransmitted);
  }
}

// The samples end before the connections do.
TEST_F(JudgeTest, RetransmitsOfTheTestNameTheWorstConnection) {
  SlowestTakes(kTimeoutNs);
  FirstOfConnections(Resources()).set_retransmitted_segments(31);
  AddConnections({2, 32, 4}, Resources());
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "retransmits"),
      HasSubstr("the test on host h sent 38 TCP segments again, 0.127 % "
                "of all that it sent, most from 10.0.0.1:40000 to "
                "10.0.0.2:32 (32 of client/0)"));
}

TEST_F(JudgeTest, TheWorstConnectionIsNotMostIfItHasLessThanHalf) {
  SlowestTakes(kTimeoutNs);
  FirstOfConnections(Resources());
  AddConnections({13, 14, 12}, Resources());
  EXPECT_THAT(ExpectOne(Finding::WARN, "retransmits"),
              HasSubstr("; the worst connection is 10.0.0.1:40000 to "
                        "10.0.0.2:14 (14 of client/0)"));
}

TEST_F(JudgeTest, RetransmitsOfConnectionsThatAreNotListedCount) {
  SlowestTakes(kTimeoutNs);
  FirstOfConnections(Resources()).set_retransmitted_segments(31);
  AddConnections({29}, Resources());
  Resources().set_omitted_data_connections(1);
  EXPECT_THAT(ExpectOne(Finding::WARN, "retransmits"),
              HasSubstr("sent 31 TCP segments again, 0.103 % of all that it "
                        "sent, most from 10.0.0.1:40000 to "));
}

// The list covers more than the samples.
TEST_F(JudgeTest, NoConnectionSentMoreAgainThanTheTest) {
  SlowestTakes(kTimeoutNs);
  FirstOfConnections(Resources()).set_retransmitted_segments(31);
  AddConnections({39}, Resources());
  Resources().set_omitted_data_connections(1);
  EXPECT_THAT(ExpectOne(Finding::WARN, "retransmits"),
              HasSubstr("sent 39 TCP segments again, 0.13 % of all"));
}

TEST_F(JudgeTest, RetransmitsOfAllNodesOfAHostAreAddedUp) {
  SlowestTakes(kTimeoutNs);
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other = Resources();
  other.clear_samples();
  *other.add_samples() = Resources().samples(0);
  DataConnections& connections =
      *other.mutable_samples(0)->mutable_data_connections();
  connections.set_sent_segments(10'000);
  connections.set_retransmitted_segments(20);
  FirstOfConnections(Resources()).set_retransmitted_segments(12);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "retransmits"),
              HasSubstr("sent 32 TCP segments again, 0.08 %"));
}

// ---- congestion_control_differs ---------------------------------------------

TEST_F(JudgeTest, DifferentCongestionControlsAreAWarning) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node1"].mutable_host()->set_tcp_congestion_control("cubic");
  nodes["node2"].mutable_host()->set_tcp_congestion_control("cubic");
  EXPECT_THAT(ExpectOne(Finding::WARN, "congestion_control_differs"),
              HasSubstr("(bbr on node0, cubic on node1 and 1 more)"));
}

TEST_F(JudgeTest, CongestionControlsThatAreAlikeOrNotKnownAreNothing) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node1"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node2"].mutable_host()->set_hostname("old");
  ExpectNothing();
}

TEST_F(JudgeTest, CongestionControlsAreThoseOfDataConnections) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  for (const std::string alias : {"node0", "node1"}) {
    nodes[alias].mutable_host()->set_tcp_congestion_control("cubic");
    nodes[alias].add_data_connections()->set_congestion_control("cubic");
  }
  nodes["node1"].mutable_host()->set_tcp_congestion_control("bbr");
  ExpectNothing();
  nodes["node1"].add_data_connections()->set_congestion_control("dctcp");
  EXPECT_THAT(ExpectOne(Finding::WARN, "congestion_control_differs"),
              HasSubstr("(cubic on node0 and 1 more, dctcp on node1)"));
}

// ---- binding_not_held -------------------------------------------------------

class JudgeBindingsTest : public JudgeTest {
 protected:
  BindingProof& Proof() {
    NodeResources& node = (*result_.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node7"];
    return (*node.mutable_binding_proofs())["server/0"];
  }
};

TEST_F(JudgeBindingsTest, AStrictBindingThatDidNotHoldIsInvalid) {
  Proof().mutable_binding()->set_strict(true);
  Proof().add_violations("its threads spent 5 us on CPUs 3, outside of 0-1");
  EXPECT_THAT(ExpectOne(Finding::INVALID, "binding_not_held"),
              HasSubstr("server/0 on node7 did not run where its binding says: "
                        "its threads spent 5 us on CPUs 3"));
}

TEST_F(JudgeBindingsTest, ABestEffortThatFailedIsAWarning) {
  Proof().mutable_binding()->set_strict(false);
  Proof().add_violations("the host has no NUMA node 3");
  ExpectOne(Finding::WARN, "binding_not_held");
}

TEST_F(JudgeBindingsTest, ABindingThatHeldIsNothing) {
  Proof().mutable_binding()->set_cpus("0-1");
  ExpectNothing();
}

// ---- clock_error ------------------------------------------------------------

TEST_F(JudgeTest, AnUncertainClockIsANote) {
  ClockFor("node1", 2'000'000);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "clock_error"), HasSubstr("node1"));
}

TEST_F(JudgeTest, AnUncertainClockOfSynchronisedBurstsIsAWarning) {
  ClockFor("node1", 2'000'000);
  Loop().set_open_loop_interval_distribution("sync_burst_spread");
  ExpectOne(Finding::WARN, "clock_error");
}

TEST_F(JudgeTest, AClockThatIsKnownIsNothing) {
  ClockFor("node1", 900'000);
  ExpectNothing();
}

TEST_F(JudgeTest, HostsThatDoNotMeetRequirementsAreAWarningEach) {
  HostRequirements& requirements =
      *result_.mutable_traffic_config()->mutable_requirements();
  requirements.set_strict(false);
  requirements.add_facts()->set_name("smt");
  requirements.mutable_facts(0)->set_string_value("off");
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_is_smt_active(false);
  ExpectNothing();
  for (const std::string alias : {"node1", "node2"}) {
    nodes[alias].mutable_host()->set_hostname("g");
    nodes[alias].mutable_host()->set_is_smt_active(true);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "requirement_not_met"),
              HasSubstr("host g does not meet the test's requirements: smt is "
                        "\"on\", but the test requires \"off\""));
  nodes["node3"].mutable_host()->set_hostname("i");
  EXPECT_THAT(Judge(result_), SizeIs(2));
}

class JudgeNetworkTest : public JudgeTest {
 protected:
  NetworkSettingReading& AddReading() {
    ServicePerformanceLog& log =
        (*result_.mutable_service_logs()->mutable_instance_logs())["client/0"];
    NetworkSettingProof& proof = *log.add_network_settings();
    proof.set_connection_count(3);
    NetworkSettingReading& reading = *proof.add_settings();
    reading.set_name("mptcp");
    reading.set_asked("on");
    reading.set_found("on");
    return reading;
  }
};

TEST_F(JudgeNetworkTest, SettingsThatWereFoundAreNothing) {
  AddReading();
  ExpectNothing();
}

TEST_F(JudgeNetworkTest, ADifferentSettingIsAWarning) {
  AddReading();
  NetworkSettingReading& reading = AddReading();
  reading.set_found("fell back to TCP");
  reading.set_differs(true);
  EXPECT_THAT(ExpectOne(Finding::WARN, "network_settings_differ"),
              HasSubstr("3 of 6 connections that client made: mptcp fell back "
                        "to TCP (asked: on). This run is not"));
}

}  // namespace
}  // namespace distbench::report
