// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/testing/node_talk_fuzz_entry.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/merge.h"
#include "distbench/sequencer/execution/test_run.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "distbench/sequencer/testing/time_travelling_inbox.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::sequencer {
namespace {

class SilentStream final : public CommandStream {
 public:
  void Send(NodeCommand) override {}
  void Close(const absl::Status&) override {}
};

class Collector final : public TestRunObserver {
 public:
  void OnStarted() override {}
  void OnProgress(const TrafficProgress&) override {}
  absl::Status OnResultChunk(ResultChunk chunk) override {
    return results::MergeChunk(std::move(chunk), logs_);
  }

  ServiceLogs TakeLogs() { return std::move(logs_); }

 private:
  ServiceLogs logs_;
};

void Register(const NodeTalk& talk) {
  base::FakeClock clock;
  NodeRegistry registry;
  const auto stream = std::make_shared<SilentStream>();
  for (const NodeRegistration& registration : talk.registrations()) {
    std::shared_ptr<NodeSession> session;
    const absl::Status status =
        registry.Register(registration, [&](const NodeConfig& config) {
          session = std::make_shared<NodeSession>(
              NodeSessionOptions{.config = config,
                                 .registration = registration},
              stream, clock, registry);
          return session;
        });
    if (!status.ok()) continue;
    for (const NodeTalk::Turn& turn : talk.turns()) {
      for (const NodeMessage& message : turn.messages()) {
        clock.Advance(1000);
        session->OnMessage(message);
      }
      session->Beat(/*beats_per_ping=*/1);
    }
  }
}

// A test in which a client calls a server.
DistributedSystemDescription ExampleTest() {
  DistributedSystemDescription test;
  test.set_random_seed(1);
  test.add_services()->set_name("client");
  test.add_services()->set_name("server");
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("query");
  rpc.add_client("client");
  rpc.set_server("server");
  return test;
}

// Makes the node answer each command with the next turn.
void Follow(const NodeTalk& talk, FakeNode& node) {
  auto next = std::make_shared<int>(0);
  for (int kind = NodeCommand::kPrepare; kind <= NodeCommand::kResultsTaken;
       ++kind) {
    node.SetAnswer(static_cast<NodeCommand::CommandCase>(kind),
                   [&talk, &node, next](const NodeCommand& command) {
                     if (*next >= talk.turns_size()) return node.Obey(command);
                     const NodeTalk::Turn& turn = talk.turns((*next)++);
                     for (const NodeMessage& message : turn.messages())
                       node.Say(message);
                     if (turn.obey()) node.Obey(command);
                     if (turn.die()) node.Die("it was its turn");
                   });
  }
}

void RunTest(const NodeTalk& talk) {
  base::FakeClock clock;
  const auto talker = std::make_shared<FakeNode>("node0");
  const auto obedient = std::make_shared<FakeNode>("node1");
  Follow(talk, *talker);
  Collector collector;
  TestExecution run({.test_id = 7,
                     .test = ExampleTest(),
                     .shares = {{.node = talker, .instances = {"client/0"}},
                                {.node = obedient, .instances = {"server/0"}}},
                     .timeout = absl::Seconds(30)},
                    StepTimeouts(), clock,
                    std::make_shared<TimeTravellingInbox>(clock), collector);
  TestResult result = run.Run();
  *result.mutable_service_logs() = collector.TakeLogs();
  for (Finding& finding : report::Judge(result)) {
    *result.mutable_run_info()->add_findings() = std::move(finding);
  }
  report::SummarizeTest(result);
}

NodeTalk::Turn& AddTurn(NodeTalk& talk) {
  NodeTalk::Turn& turn = *talk.add_turns();
  turn.set_obey(true);
  return turn;
}

void AddMeasurements(RpcStatistics& statistics) {
  stats::LogHistogram latencies;
  for (int i = 1; i <= 100; ++i) latencies.Record(i * 1000);
  statistics.set_succeeded_count(100);
  statistics.set_first_start_timestamp_ns(1'000'000);
  statistics.set_last_end_timestamp_ns(2'000'000);
  results::EncodeHistogram(latencies, *statistics.mutable_service_time_ns());
}

}  // namespace

void ListenToNodes(const NodeTalk& talk) {
  Register(talk);
  RunTest(talk);
}

NodeTalk ExampleNodeTalk() {
  NodeTalk talk;
  NodeRegistration& registration = *talk.add_registrations();
  registration.set_hostname("alpha");
  registration.set_control_protocol(base::kControlProtocol);
  AddTurn(talk);  // prepare
  AddTurn(talk)   // connect
      .add_messages()
      ->mutable_pong()
      ->set_node_timestamp_ns(1);
  TrafficProgress& progress =
      *AddTurn(talk).add_messages()->mutable_progress();  // start
  progress.set_succeeded_count(5);
  progress.set_in_flight_count(1);
  ResultChunk& chunk =
      *AddTurn(talk).add_messages()->mutable_result_chunk();  // collect
  chunk.set_instance("client/0");
  chunk.set_peer("server/0");
  chunk.set_rpc_index(0);
  AddMeasurements(*chunk.mutable_rpc_log()->mutable_statistics());
  return talk;
}

}  // namespace distbench::sequencer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::NodeTalk talk;
  if (talk.ParsePartialFromArray(data, static_cast<int>(size))) {
    distbench::sequencer::ListenToNodes(talk);
  }
  return 0;
}
