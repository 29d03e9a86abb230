// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests with real engine processes: what one engine does, and its loss.

#include "distbench/hosting/process_engine.h"

#include <signal.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/hosting/testing/process_engines_fixture.h"
#include "distbench/results/merge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ProcessEngineTest = ProcessEnginesTest;

TEST_F(ProcessEngineTest, EnginesMeasureInProcessesOfTheirOwn) {
  SetTest("max_iteration_count: 1000");
  MakeBoth();
  const std::set<pid_t> processes = {getpid(), server_.engine->pid(),
                                     client_.engine->pid()};
  EXPECT_EQ(processes.size(), 3);
  Start();
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  // The totals that came with the end are exact.
  EXPECT_EQ(client_.engine->progress().succeeded_count(), 1000);
  stats::SeriesByRpc recent;
  client_.engine->TakeRecent(recent);

  EXPECT_FALSE(client_.engine->process_usage().has_value());
  client_.engine->Shutdown();
  int64_t counted = 0;
  int64_t samples = 0;
  EXPECT_EQ(client_.engine->Collect([&](const ResultChunk& chunk) {
    counted += chunk.rpc_log().statistics().succeeded_count();
    samples += chunk.rpc_log().successful_rpc_samples_size();
    EXPECT_EQ(chunk.instance(), "client/0");
  }),
            absl::OkStatus());
  EXPECT_EQ(counted, 1000);
  EXPECT_EQ(samples, 1000);
  ASSERT_TRUE(client_.engine->process_usage().has_value());
  EXPECT_GT(client_.engine->process_usage()->max_resident_set_size(), 0);
}

TEST_F(ProcessEngineTest, ResultsComeInPieces) {
  // Samples of some megabytes.
  SetTest("max_iteration_count: 100000 max_parallel_iterations: 50");
  MakeBoth();
  Start();
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  client_.engine->Shutdown();
  int64_t samples = 0;
  EXPECT_EQ(client_.engine->Collect([&](const ResultChunk& chunk) {
    samples += chunk.rpc_log().successful_rpc_samples_size();
  }),
            absl::OkStatus());
  EXPECT_EQ(samples, 100'000);
  // None of the results is mistaken for a later answer.
  client_.engine->Shutdown();
}

TEST_F(ProcessEngineTest, ReportsProgressAndStops) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  Start();
  EXPECT_TRUE(WaitForProgress());
  client_.engine->Stop("enough");
  EXPECT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  client_.engine->Shutdown();
  std::string reason;
  EXPECT_EQ(client_.engine->Collect([&](const ResultChunk& chunk) {
    reason += chunk.instance_log().engine_error_message();
  }),
            absl::OkStatus());
  EXPECT_EQ(reason, "enough");
}

TEST_F(ProcessEngineTest, SaysWhichSignalKilledAProcess) {
  for (const int signal : {SIGABRT, SIGKILL}) {
    SetTest("max_duration_us: 60000000");
    Owned server;
    ASSERT_EQ(Make(1, server), absl::OkStatus());
    const pid_t pid = server.engine->pid();
    server.engine->Start(base::RealClock().MonotonicNs());
    ASSERT_TRUE(server.finished.WaitForNotificationWithTimeout(kGenerous));
    kill(pid, signal);
    ASSERT_TRUE(server.overloaded.WaitForNotificationWithTimeout(kGenerous));
    EXPECT_EQ(server.overload.message(),
              absl::StrCat("its engine process ", pid, " was killed by signal ",
                           signal, " (", strsignal(signal), ")"));
    // Nothing hangs, and the loss is reported.
    server.engine->Stop("it is over");
    server.engine->Shutdown();
    std::string kept;
    EXPECT_EQ(server.engine->Collect([&kept](const ResultChunk& chunk) {
      kept += chunk.instance_log().engine_error_message();
    }),
              server.overload);
    EXPECT_EQ(kept, server.overload.message());
  }
}

TEST_F(ProcessEngineTest, ALossEndsTheTraffic) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  Start();
  ASSERT_TRUE(WaitForProgress());
  kill(client_.engine->pid(), SIGKILL);
  EXPECT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_TRUE(client_.overloaded.HasBeenNotified());
}

// Kills the client once it has reported a few seconds, and checks what is left.
TEST_F(ProcessEngineTest, WhatALostEngineHasReportedIsKept) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  Start();
  int64_t reported = 0;
  ASSERT_TRUE(WaitUntil([&] {
    stats::SeriesByRpc recent;
    client_.engine->TakeRecent(recent);
    for (const auto& [rpc, series] : recent) {
      stats::IntervalSeries::ForEach(
          {&series}, [&](const stats::IntervalSeries::View& view) {
            reported += view.counts.succeeded;
          });
    }
    return reported > 0;
  }));
  kill(client_.engine->pid(), SIGKILL);
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  client_.engine->Shutdown();
  ServiceLogs logs;
  EXPECT_EQ(client_.engine->Collect([&](ResultChunk chunk) {
    EXPECT_EQ(results::MergeChunk(std::move(chunk), logs), absl::OkStatus());
  }),
            client_.overload);
  const ServicePerformanceLog& log = logs.instance_logs().at("client/0");
  EXPECT_THAT(log.engine_error_message(),
              AllOf(HasSubstr("was killed by signal 9"),
                    HasSubstr("; what it measured until 20"),
                    HasSubstr(" UTC is kept"), HasSubstr("the rest is lost")));
  const RpcTimeSeries& series = log.rpc_time_series().at(0);
  const int64_t last_second =
      series.intervals(series.intervals_size() - 1).index();
  EXPECT_EQ(log.measurements_end_timestamp_ns(),
            (last_second + 1) * 1'000'000'000);
  const RpcStatistics& totals = log.pooled_statistics().at(0);
  EXPECT_GE(totals.succeeded_count(), reported);
  int64_t in_series = 0;
  for (const RpcInterval& interval : series.intervals()) {
    in_series += interval.succeeded_count();
  }
  EXPECT_EQ(totals.succeeded_count(), in_series);
  EXPECT_GT(totals.service_time_ns().bucket_counts_size(), 0);
}

TEST_F(ProcessEngineTest, ALostClientThatHasReportedNothingSaysSo) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  kill(client_.engine->pid(), SIGKILL);
  ASSERT_TRUE(client_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  ServiceLogs logs;
  EXPECT_FALSE(client_.engine
                   ->Collect([&](ResultChunk chunk) {
                     EXPECT_EQ(results::MergeChunk(std::move(chunk), logs),
                               absl::OkStatus());
                   })
                   .ok());
  const ServicePerformanceLog& log = logs.instance_logs().at("client/0");
  EXPECT_THAT(log.engine_error_message(),
              HasSubstr("; what it measured is lost"));
  EXPECT_TRUE(log.has_measurements_end_timestamp_ns());
  EXPECT_EQ(log.measurements_end_timestamp_ns(), 0);
}

// Reports find out by it that an antagonist was lost, and not its subject.
TEST_F(ProcessEngineTest, ALostInstanceThatCallsNobodyHasLostItsActivities) {
  SetTest(R"(max_iteration_count: 1 } }
    activity_configs {
      name: "wait"
      activity_settings { name: "activity_func" string_value: "SleepFor" }
      activity_settings { name: "duration_us" int64_value: 1000 }
    }
    action_lists { name: "server" action_names: "wait" }
    actions {
      name: "wait" activity_config_name: "wait"
      iterations { max_duration_us: 60000000)");
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  kill(server_.engine->pid(), SIGKILL);
  ASSERT_TRUE(server_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  ServiceLogs logs;
  EXPECT_FALSE(server_.engine
                   ->Collect([&](ResultChunk chunk) {
                     EXPECT_EQ(results::MergeChunk(std::move(chunk), logs),
                               absl::OkStatus());
                   })
                   .ok());
  const ServicePerformanceLog& log = logs.instance_logs().at("server/0");
  EXPECT_TRUE(log.has_measurements_end_timestamp_ns());
  EXPECT_EQ(log.measurements_end_timestamp_ns(), 0);
}

TEST_F(ProcessEngineTest, ALossBeforeTheStartEndsTheTrafficOnce) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  kill(client_.engine->pid(), SIGKILL);
  ASSERT_TRUE(client_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_FALSE(client_.finished.HasBeenNotified());
  client_.engine->Start(base::RealClock().MonotonicNs());
  EXPECT_TRUE(client_.finished.HasBeenNotified());
}

TEST_F(ProcessEngineTest, AProcessThatHangsIsKilled) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  kill(client_.engine->pid(), SIGSTOP);
  ASSERT_TRUE(client_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_THAT(client_.overload.message(),
              HasSubstr("did not answer for 4s, and was killed"));
  EXPECT_TRUE(WaitForEnd(client_.engine->pid()));
  // Only the client's process hung.
  EXPECT_FALSE(server_.overloaded.HasBeenNotified());
}

TEST_F(ProcessEngineTest, ALossWhileResultsComeIsAnError) {
  SetTest("max_iteration_count: 100000 max_parallel_iterations: 50");
  MakeBoth();
  Start();
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  client_.engine->Shutdown();
  bool is_first = true;
  bool has_kept_measurements = false;
  std::string message;
  const absl::Status status =
      client_.engine->Collect([&](const ResultChunk& chunk) {
        if (is_first) kill(client_.engine->pid(), SIGKILL);
        is_first = false;
        has_kept_measurements |=
            chunk.instance_log().has_measurements_end_timestamp_ns() ||
            chunk.instance_log().pooled_statistics_size() > 0;
        message += chunk.instance_log().engine_error_message();
      });
  EXPECT_THAT(status.message(), HasSubstr("was killed by signal 9"));
  EXPECT_THAT(message, HasSubstr("what it had not yet handed over is lost"));
  EXPECT_FALSE(has_kept_measurements) << "they would be counted twice";
}

TEST_F(ProcessEngineTest, AnErrorOfTheDriverIsTheUsers) {
  SetTest("max_iteration_count: 1");
  ASSERT_EQ(Make(0, client_), absl::OkStatus());
  EXPECT_THAT(client_.engine->Connect({"127.0.0.1:1"}, absl::Now() + kGenerous)
                  .message(),
              AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("process"))));
}

}  // namespace
}  // namespace distbench::hosting
