// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_server.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/stats/interval_series.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

// Its totals take as long as the test wants. Its traffic ends when the test
// says so, at the latest when it is shut down.
class SlowEngine final : public HostedEngine {
 public:
  SlowEngine(std::function<void()> on_traffic_finished,
             absl::Notification& may_report)
      : on_traffic_finished_(std::move(on_traffic_finished)),
        may_report_(may_report) {}

  const std::string& address() const override { return address_; }
  const std::vector<int>& peers() const override { return peers_; }
  absl::Status Connect(const std::vector<std::string>&, absl::Time) override {
    return absl::OkStatus();
  }
  void Start(int64_t) override {}
  void Stop(absl::string_view) override {}
  TrafficProgress progress() const override {
    may_report_.WaitForNotification();
    return TrafficProgress();
  }
  void TakeRecent(stats::SeriesByRpc&) override {}
  void Shutdown() override { on_traffic_finished_(); }
  absl::Status Collect(absl::FunctionRef<void(ResultChunk)>) override {
    return absl::OkStatus();
  }

 private:
  const std::function<void()> on_traffic_finished_;
  absl::Notification& may_report_;
  const std::string address_ = "address";
  const std::vector<int> peers_;
};

class EngineServerTest : public testing::Test, public EngineFactory {
 protected:
  // Serves one engine.
  void SetUp() override {
    auto ends = MessageSocket::MakePair();
    ASSERT_TRUE(ends.ok());
    node_manager_ = std::make_unique<MessageSocket>(std::move(ends->first));
    server_ = std::thread([this, end = std::move(ends->second)]() mutable {
      EXPECT_EQ(ServeEngines(std::move(end), *this), absl::OkStatus());
    });
    TestSequence sequence;
    DistributedSystemDescription& test = *sequence.add_tests();
    test.add_services()->set_name("lonely");
    test.mutable_services(0)->set_count(1);
    test.add_action_lists()->set_name("lonely");
    const auto checked = config::CheckTestSequence(sequence);
    ASSERT_TRUE(checked.ok()) << checked.status();
    EngineCommand command;
    *command.mutable_make()->mutable_test() = checked->tests(0);
    command.mutable_make()->set_worker_count(1);
    node_manager_->Send(command);
    ASSERT_EQ(NextReport(), EngineReport::kMade);
  }

  void TearDown() override {
    node_manager_->CloseForSending();
    server_.join();
  }

  EngineReport::ReportCase NextReport() {
    EngineReport report;
    return node_manager_->Receive(report) ? report.report_case()
                                          : EngineReport::REPORT_NOT_SET;
  }

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override {
    on_traffic_finished_ = request.options.on_traffic_finished;
    return std::make_unique<SlowEngine>(on_traffic_finished_, may_report_);
  }

  std::unique_ptr<MessageSocket> node_manager_;
  std::function<void()> on_traffic_finished_;
  absl::Notification may_report_;

 private:
  std::thread server_;
};

// It may still have to serve others.
TEST_F(EngineServerTest, NoWorkerWaitsUntilItsEndIsReported) {
  absl::Notification returned;
  std::thread worker([&] {
    on_traffic_finished_();
    returned.Notify();
  });
  EXPECT_TRUE(returned.WaitForNotificationWithTimeout(absl::Seconds(20)));
  may_report_.Notify();
  EXPECT_EQ(NextReport(), EngineReport::kFinished);
  worker.join();
}

TEST_F(EngineServerTest, ReportsTheEndBeforeTheShutdown) {
  may_report_.Notify();
  EngineCommand command;
  command.mutable_shut_down();
  node_manager_->Send(command);
  EXPECT_EQ(NextReport(), EngineReport::kFinished);
  EXPECT_EQ(NextReport(), EngineReport::kShutDown);
}

}  // namespace
}  // namespace distbench::hosting
