// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shared code of tests of TestExecution.

#ifndef DISTBENCH_SEQUENCER_TESTING_TEST_RUN_TESTING_H_
#define DISTBENCH_SEQUENCER_TESTING_TEST_RUN_TESTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/execution/test_run.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "distbench/sequencer/testing/time_travelling_inbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

class RecordingObserver : public TestRunObserver {
 public:
  void OnStarted() override { started = true; }
  void OnProgress(const TrafficProgress& total) override {
    progress.push_back(total.succeeded_count());
    all_progress.push_back(total);
  }
  absl::Status OnResultChunk(ResultChunk chunk) override {
    chunks.push_back(chunk.instance());
    if (chunk.instance() != wrong_instance) return absl::OkStatus();
    return absl::InvalidArgumentError("damaged");
  }

  bool started = false;
  std::vector<int64_t> progress;
  std::vector<TrafficProgress> all_progress;
  std::vector<std::string> chunks;
  std::string wrong_instance = "none";
};

// Has three nodes, each with one instance of one service.
class TestRunTest : public testing::Test {
 protected:
  TestRunTest() : inbox_(std::make_shared<TimeTravellingInbox>(clock_)) {
    spec_.test_id = 7;
    spec_.timeout = absl::Seconds(30);
    spec_.test.add_services()->set_name("s");
    spec_.test.set_random_seed(99);
    for (int i = 0; i < 3; ++i) AddNode();
  }

  // Another node with an instance of the service.
  void AddNode(bool is_local = true) {
    const std::string number = std::to_string(nodes_.size());
    nodes_.push_back(std::make_shared<FakeNode>("node" + number,
                                                NodeRegistration(), is_local));
    spec_.shares.push_back(
        {.node = nodes_.back(), .instances = {"s/" + number}});
  }

  TestResult Run() {
    TestExecution run(spec_, StepTimeouts(), clock_, inbox_, observer_);
    TestResult result = run.Run();
    failure_ = run.failure();
    cancellation_ = run.cancellation();
    return result;
  }

  std::string failure() const { return std::string(failure_.message()); }

  // Makes the node die instead of obeying.
  void DiesOn(int node, NodeCommand::CommandCase kind) {
    nodes_[node]->SetAnswer(kind, [this, node](const NodeCommand&) {
      nodes_[node]->Die("killed");
    });
  }

  // Makes the node start, but without an end of its traffic.
  void NeverFinishes(int node) {
    nodes_[node]->SetAnswer(NodeCommand::kStart, [this, node](const auto&) {
      NodeMessage reply;
      reply.mutable_start_reply();
      nodes_[node]->Say(std::move(reply));
    });
  }

  void ExpectReleased(int node) {
    EXPECT_THAT(nodes_[node]->CommandsOf(NodeCommand::kRelease),
                testing::SizeIs(1));
    EXPECT_FALSE(nodes_[node]->disconnect_reason().has_value());
  }

  base::FakeClock clock_;
  std::shared_ptr<TimeTravellingInbox> inbox_;
  RecordingObserver observer_;
  TestRunSpec spec_;
  std::vector<std::shared_ptr<FakeNode>> nodes_;
  absl::Status failure_;
  absl::Status cancellation_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_TEST_RUN_TESTING_H_
