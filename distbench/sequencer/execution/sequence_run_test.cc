// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/sequence_run.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "distbench/sequencer/testing/run_book_testing.h"
#include "distbench/sequencer/testing/run_record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The real time. Calls a function when it is asked for the first time.
class WatchedClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override {
    if (on_look) std::exchange(on_look, {})();
    return base::RealClock().MonotonicNs();
  }
  int64_t UnixNs() const override { return base::RealClock().UnixNs(); }

  mutable std::function<void()> on_look;
};

// Runs tests of two nodes, each with one instance of one service. The second
// node is lost during the first test.
class NodeLossTest : public RunRecordTest {
 protected:
  NodeLossTest() {
    environment_.patience = {.until_back = absl::Minutes(1),
                             .until_known = absl::ZeroDuration()};
    Register(0);
    const std::shared_ptr<FakeNode> lost = Register(1);
    lost->SetAnswer(NodeCommand::kStart,
                    [this, lost = lost.get()](const auto&) {
                      lost->Die("killed");
                      registry_.Remove(1, *lost);
                    });
    for (int i = 0; i < 3; ++i) {
      DistributedSystemDescription& test = *sequence_.add_tests();
      ServiceSpec& service = *test.add_services();
      service.set_name("s");
      service.set_count(2);
      service.set_x_size(2);
    }
  }

  std::shared_ptr<FakeNode> Register(int id) {
    NodeRegistration registration;
    registration.set_hostname(absl::StrCat("host", id));
    registration.set_version("1.0");
    registration.set_control_protocol(base::kControlProtocol);
    registration.set_preassigned_node_id(id);
    std::shared_ptr<FakeNode> node;
    const absl::Status status =
        registry_.Register(registration, [&](const NodeConfig& config) {
          node = std::make_shared<FakeNode>(config.node_alias(), registration);
          nodes_.push_back(node);
          return node;
        });
    EXPECT_TRUE(status.ok()) << status;
    return node;
  }

  // Runs the sequence. After the first test, another thread calls `then`.
  // Returns the failures of the tests, empty for those that have none.
  std::vector<std::string> Run(
      const std::function<void(SequenceRun& run)>& then) {
    record_ = MakeRecord();
    SequenceRun run(sequence_, {}, environment_, record_);
    run_ = &run;
    std::vector<std::string> failures;
    std::thread user([&] {
      WaitingFollower follower(record_);
      while (true) {
        const RunNews news = follower.Next();
        if (!news.event.has_value()) return;
        if (!news.event->has_finished()) continue;
        failures.push_back(news.event->finished().run_info().failure());
        if (failures.size() == 1) then(run);
      }
    });
    run.Run();
    user.join();
    return failures;
  }

  RunDescription::State state() const { return record_->description().state(); }

  NodeRegistry registry_;
  std::vector<std::shared_ptr<FakeNode>> nodes_;  // tests may still hold them
  RunStatus status_;
  WatchedClock watched_clock_;
  RunEnvironment environment_{.registry = registry_,
                              .status = status_,
                              .clock = watched_clock_,
                              .timeouts = {}};
  TestSequence sequence_;
  std::shared_ptr<RunRecord> record_;
  SequenceRun* run_ = nullptr;  // of Run()
};

TEST_F(NodeLossTest, LaterTestsWaitUntilTheNodeIsBack) {
  EXPECT_THAT(Run([this](SequenceRun&) { Register(1); }),
              ElementsAre(HasSubstr("was lost"), "", ""));
  EXPECT_EQ(state(), RunDescription::FAILED);
}

// As those of searches, experiments and alternating tests, which submit one
// test after the other.
TEST_F(NodeLossTest, TheNextRunWaitsUntilTheNodeIsBack) {
  sequence_.mutable_tests()->DeleteSubrange(1, 2);
  EXPECT_THAT(Run([](SequenceRun&) {}), ElementsAre(HasSubstr("was lost")));
  std::thread node;
  watched_clock_.on_look = [&] { node = std::thread([this] { Register(1); }); };
  EXPECT_THAT(Run([](SequenceRun&) {}), ElementsAre(""));
  EXPECT_EQ(state(), RunDescription::DONE);
  if (node.joinable()) node.join();
}

TEST_F(NodeLossTest, TheNextRunIsRefusedIfTheNodeStaysAway) {
  sequence_.mutable_tests()->DeleteSubrange(1, 2);
  environment_.patience.until_back = absl::Milliseconds(1);
  Run([](SequenceRun&) {});
  EXPECT_THAT(Run([](SequenceRun&) {}), ElementsAre());
  EXPECT_THAT(record_->description().message(),
              HasSubstr("needs 2 nodes but 1 is registered"));
}

TEST_F(NodeLossTest, TheNextRunCanBeCancelledWhileItWaits) {
  sequence_.mutable_tests()->DeleteSubrange(1, 2);
  Run([](SequenceRun&) {});
  std::thread user;
  watched_clock_.on_look = [&] {
    user =
        std::thread([this] { run_->Cancel(absl::CancelledError("enough")); });
  };
  EXPECT_THAT(Run([](SequenceRun&) {}), ElementsAre());
  EXPECT_EQ(state(), RunDescription::CANCELLED);
  EXPECT_EQ(record_->description().message(), "enough");
  if (user.joinable()) user.join();
}

TEST_F(NodeLossTest, ANodeThatStaysAwayIsSaidToBeMissing) {
  environment_.patience.until_back = absl::Milliseconds(1);
  EXPECT_THAT(Run([](SequenceRun&) {}),
              ElementsAre(HasSubstr("was lost"),
                          HasSubstr("needs 2 nodes but 1 is registered"),
                          HasSubstr("needs 2 nodes but 1 is registered")));
}

TEST_F(NodeLossTest, ARunThatIsCancelledAfterTheLossIsCancelled) {
  nodes_[0]->SetAnswer(NodeCommand::kCollect, [this](const auto& collect) {
    run_->Cancel(absl::CancelledError("enough"));
    nodes_[0]->Obey(collect);
  });
  EXPECT_THAT(Run([](SequenceRun&) {}), ElementsAre(HasSubstr("was lost")));
  EXPECT_EQ(state(), RunDescription::CANCELLED);
  EXPECT_EQ(record_->description().message(), "enough");
}

TEST_F(NodeLossTest, ACancellationEndsTheWaitForNodes) {
  EXPECT_THAT(
      Run([](SequenceRun& run) { run.Cancel(absl::CancelledError("enough")); }),
      ElementsAre(HasSubstr("was lost")));
  EXPECT_EQ(state(), RunDescription::CANCELLED);
  EXPECT_EQ(record_->description().message(), "enough");
}

void AddFindings(int count, Finding::Severity severity, const std::string& code,
                 RunInfo& info) {
  for (int i = 0; i < count; ++i) {
    Finding& finding = *info.add_findings();
    finding.set_severity(severity);
    finding.set_code(code);
    finding.set_message(absl::StrCat(code, i));
  }
}

TEST(FindingLimitTest, ManyOfAKindAreCounted) {
  RunInfo info;
  AddFindings(9000, Finding::WARN, "late_start", info);
  AddFindings(1, Finding::INVALID, "late_start", info);
  AddFindings(kMostFindingsOfAKind, Finding::NOTE, "clock_offset", info);
  LimitFindings(info);
  ASSERT_THAT(info.findings(), SizeIs(2 * kMostFindingsOfAKind + 2));
  EXPECT_EQ(info.findings(kMostFindingsOfAKind - 1).message(), "late_start99");
  EXPECT_EQ(info.findings(kMostFindingsOfAKind).severity(), Finding::INVALID);
  const Finding& rest = info.findings(2 * kMostFindingsOfAKind + 1);
  EXPECT_EQ(rest.severity(), Finding::WARN);
  EXPECT_EQ(rest.code(), "late_start");
  EXPECT_EQ(rest.message(), "there are 8900 more findings of this kind");
}

}  // namespace
}  // namespace distbench::sequencer
