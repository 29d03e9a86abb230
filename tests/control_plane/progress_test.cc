// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How nodes report the progress of their traffic.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "tests/control_plane/cluster.h"
#include "tests/control_plane/fake_sequencer.h"

namespace distbench {
namespace {

constexpr int64_t kTestId = 7;

constexpr char kTraffic[] = R"(
    tests {
      services { name: "client" count: 1 }
      services { name: "server" count: 1 }
      rpc_descriptions { name: "rpc" client: "client" server: "server" }
      actions { name: "send" rpc_name: "rpc" }
      action_lists { name: "client" action_names: "send" }
      action_lists { name: "rpc" }
    })";

// Takes one node through a test, and pings it until it has reported.
class PingingSequencer final : public FakeSequencer {
 public:
  explicit PingingSequencer(bool with_pongs) : with_pongs_(with_pongs) {}
  ~PingingSequencer() override { ShutDown(); }

  // The first message with progress.
  std::optional<NodeMessage> WaitForReport() {
    absl::MutexLock lock(&mutex_);
    const auto is_there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return report_.has_value();
    };
    mutex_.AwaitWithTimeout(absl::Condition(&is_there), kGenerous);
    return report_;
  }

 private:
  using Stream = grpc::ServerReaderWriter<NodeCommand, NodeMessage>;

  grpc::Status NodeSession(grpc::ServerContext*, Stream* stream) override {
    NodeMessage message;
    stream->Read(&message);  // the registration
    NodeCommand command;
    command.mutable_welcome()->set_node_alias("node0");
    stream->Write(command);
    const NodeMessage prepared = Ask(*stream, PrepareCommand());
    const NodeMessage connected =
        Ask(*stream, ConnectCommand(prepared.prepare_reply().endpoints()));
    EXPECT_EQ(connected.connect_reply().code(), 0)
        << connected.connect_reply().message();
    Ask(*stream, StartCommand());
    while (!Keep(Ask(*stream, PingCommand()))) {
      absl::SleepFor(absl::Milliseconds(50));  // the pace of heartbeats
    }
    while (stream->Read(&message)) {
    }
    return grpc::Status::OK;
  }

  static NodeMessage Ask(Stream& stream, NodeCommand command) {
    command.set_test_id(kTestId);
    stream.Write(command);
    NodeMessage answer;
    EXPECT_TRUE(stream.Read(&answer));
    return answer;
  }

  static NodeCommand PrepareCommand() {
    NodeCommand command;
    PrepareTest& prepare = *command.mutable_prepare();
    *prepare.mutable_config()->mutable_traffic_config() =
        config::CheckTestSequence(base::FromText<TestSequence>(kTraffic))
            ->tests(0);
    prepare.mutable_config()->add_services("client/0");
    prepare.mutable_config()->add_services("server/0");
    prepare.set_workers_per_instance(1);
    prepare.set_use_loopback(true);
    prepare.set_test_nonce("0123456789abcdef");
    return command;
  }

  static NodeCommand ConnectCommand(const ServiceEndpointMap& endpoints) {
    NodeCommand command;
    *command.mutable_connect()->mutable_endpoints() = endpoints;
    command.mutable_connect()->set_timeout_ns(
        absl::ToInt64Nanoseconds(kGenerous));
    return command;
  }

  NodeCommand StartCommand() const {
    NodeCommand command;
    StartTraffic& start = *command.mutable_start();
    start.set_start_timestamp_ns(absl::GetCurrentTimeNanos());
    start.set_timeout_ns(absl::ToInt64Nanoseconds(absl::Minutes(1)));
    start.set_progress_with_pongs(with_pongs_);
    return command;
  }

  static NodeCommand PingCommand() {
    NodeCommand command;
    command.mutable_ping()->set_sequencer_timestamp_ns(
        absl::GetCurrentTimeNanos());
    return command;
  }

  // Returns whether the message has progress.
  bool Keep(const NodeMessage& message) {
    EXPECT_FALSE(message.has_traffic_finished())
        << message.traffic_finished().message();
    const bool is_report =
        message.has_progress() || message.pong().has_progress();
    absl::MutexLock lock(&mutex_);
    if (is_report) report_ = message;
    return is_report;
  }

  const bool with_pongs_;
  absl::Mutex mutex_;
  std::optional<NodeMessage> report_ ABSL_GUARDED_BY(mutex_);
};

class ProgressTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(WithPongs, ProgressTest, testing::Bool());

TEST_P(ProgressTest, ComesAsTheSequencerWants) {
  const bool with_pongs = GetParam();
  PingingSequencer sequencer(with_pongs);
  Cluster cluster;
  cluster.engines().SetEndless(true);
  node::NodeManagerOptions options;
  options.sequencer = sequencer.address();
  cluster.StartNode(options);
  const std::optional<NodeMessage> report = sequencer.WaitForReport();
  cluster.node(0).Shutdown();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->has_pong(), with_pongs);
  EXPECT_EQ(report->test_id(), kTestId);
}

}  // namespace
}  // namespace distbench
