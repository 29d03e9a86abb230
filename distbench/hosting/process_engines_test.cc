// Tests with real engine processes, for which this program starts itself again
// (see main()).

#include "distbench/hosting/process_engines.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/engine_server.h"
#include "distbench/hosting/in_process_engines.h"
#include "distbench/hosting/message_socket.h"
#include "distbench/results/merge.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kGenerous = absl::Seconds(20);

// The limit of each engine.
constexpr int kMaxFiles = 200;

constexpr char kTest[] = R"(
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "query" client: "client" server: "server" }
  actions { name: "run" rpc_name: "query" iterations { $0 } }
  action_lists { name: "client" action_names: "run" }
  action_lists { name: "query" })";

// Returns false if it did not become true in time.
bool WaitUntil(absl::FunctionRef<bool()> is_true) {
  const absl::Time deadline = absl::Now() + kGenerous;
  while (!is_true()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

// An engine of a test, with everything that was reported to its owner.
struct Owned {
  absl::Notification finished;
  absl::Notification overloaded;
  absl::Status overload;
  std::unique_ptr<HostedEngine> engine;
};

class ProcessEnginesTest : public testing::Test {
 protected:
  void SetTest(const std::string& iterations,
               const std::string& protocol = "tcp") {
    TestSequence sequence;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        absl::Substitute(kTest, iterations), sequence.add_tests()));
    sequence.mutable_tests(0)->set_default_protocol(protocol);
    auto checked = CheckTestSequence(sequence);
    ASSERT_TRUE(checked.ok()) << checked.status();
    test_ = checked->tests(0);
    plan_ = std::make_shared<const Plan>(Compile(test_));
  }

  absl::Status Make(int instance, Owned& owned, int group = -1) {
    EngineRequest request{.test = test_, .options = {}, .environment = {}};
    request.options.plan = plan_;
    request.options.instance = instance;
    request.options.on_traffic_finished = [&owned] { owned.finished.Notify(); };
    request.options.on_overload = [&owned](absl::Status status) {
      owned.overload = std::move(status);
      owned.overloaded.Notify();
    };
    request.environment.service_address = "127.0.0.1";
    request.group = group;
    auto engine = engines_.Make(std::move(request));
    if (!engine.ok()) return engine.status();
    owned.engine = *std::move(engine);
    return absl::OkStatus();
  }

  // Both engines, connected.
  void MakeBoth() {
    ASSERT_EQ(Make(1, server_), absl::OkStatus());
    ASSERT_EQ(Make(0, client_), absl::OkStatus());
    ASSERT_EQ(server_.engine->Connect({}, absl::Now() + kGenerous),
              absl::OkStatus());
    ASSERT_EQ(client_.engine->Connect({server_.engine->address()},
                                      absl::Now() + kGenerous),
              absl::OkStatus());
  }

  void Start() {
    const int64_t now_ns = RealClock().MonotonicNs();
    server_.engine->Start(now_ns);
    client_.engine->Start(now_ns);
  }

  // Waits until RPCs have been reported.
  bool WaitForProgress() const {
    return WaitUntil(
        [this] { return client_.engine->progress().succeeded_count > 0; });
  }

  DistributedSystemDescription test_;
  std::shared_ptr<const Plan> plan_;
  ProcessEngines engines_{{.max_files = kMaxFiles}};
  Owned server_;
  Owned client_;
};

bool Exists(pid_t pid) { return kill(pid, 0) == 0; }

bool WaitForEnd(pid_t pid) {
  return WaitUntil([pid] { return !Exists(pid); });
}

TEST_F(ProcessEnginesTest, EnginesMeasureInProcessesOfTheirOwn) {
  SetTest("max_iteration_count: 1000");
  MakeBoth();
  const std::set<pid_t> processes = {getpid(), server_.engine->pid(),
                                     client_.engine->pid()};
  EXPECT_EQ(processes.size(), 3);
  Start();
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  // The totals that came with the end are exact.
  EXPECT_EQ(client_.engine->progress().succeeded_count, 1000);
  SeriesByRpc recent;
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

TEST_F(ProcessEnginesTest, ResultsComeInPieces) {
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

TEST_F(ProcessEnginesTest, ReportsProgressAndStops) {
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

TEST_F(ProcessEnginesTest, ProcessesEndWithTheirEngines) {
  SetTest("max_iteration_count: 1");
  MakeBoth();
  const pid_t pid = client_.engine->pid();
  client_.engine.reset();
  EXPECT_TRUE(WaitForEnd(pid));
  EXPECT_TRUE(Exists(server_.engine->pid()));
}

TEST_F(ProcessEnginesTest, TheEndsOfProcessesCanBeAwaited) {
  SetTest("max_iteration_count: 10");
  MakeBoth();
  const pid_t pid = client_.engine->pid();
  client_.engine.reset();
  engines_.AwaitEnds(kGenerous);
  EXPECT_FALSE(Exists(pid));
  EXPECT_TRUE(Exists(server_.engine->pid()));
}

TEST_F(ProcessEnginesTest, AGroupThatIsNoneIsAnError) {
  SetTest("max_iteration_count: 10");
  const FileDescriptor folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(folder.is_open());
  const absl::Status status = Make(1, server_, folder.get());
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot start"));
  EXPECT_EQ(Make(1, server_), absl::OkStatus()) << "others are not affected";
}

TEST_F(ProcessEnginesTest, EachEngineStartsFromNothing) {
  SetTest("max_iteration_count: 1");
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  const pid_t pid = server_.engine->pid();
  server_.engine.reset();
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  EXPECT_NE(server_.engine->pid(), pid);
}

TEST_F(ProcessEnginesTest, EnginesOverLoopbackShareAProcess) {
  SetTest("max_iteration_count: 10", "loopback");
  MakeBoth();
  EXPECT_EQ(client_.engine->pid(), server_.engine->pid());
  Start();
  ASSERT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_EQ(client_.engine->progress().succeeded_count, 10);
  for (Owned* owned : {&client_, &server_}) {
    owned->engine->Shutdown();
    EXPECT_EQ(owned->engine->Collect([](const ResultChunk&) {}),
              absl::OkStatus());
  }
  // The process exists until its last engine is gone.
  const pid_t pid = client_.engine->pid();
  client_.engine.reset();
  EXPECT_TRUE(Exists(pid));
  server_.engine.reset();
  EXPECT_TRUE(WaitForEnd(pid));
}

TEST_F(ProcessEnginesTest, SaysWhichSignalKilledAProcess) {
  for (const int signal : {SIGABRT, SIGKILL}) {
    SetTest("max_duration_us: 60000000");
    Owned server;
    ASSERT_EQ(Make(1, server), absl::OkStatus());
    const pid_t pid = server.engine->pid();
    server.engine->Start(RealClock().MonotonicNs());
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

TEST_F(ProcessEnginesTest, ALossEndsTheTraffic) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  Start();
  ASSERT_TRUE(WaitForProgress());
  kill(client_.engine->pid(), SIGKILL);
  EXPECT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_TRUE(client_.overloaded.HasBeenNotified());
}

// Kills the client once it has reported a few seconds, and checks what is left.
TEST_F(ProcessEnginesTest, WhatALostEngineHasReportedIsKept) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  Start();
  int64_t reported = 0;
  ASSERT_TRUE(WaitUntil([&] {
    SeriesByRpc recent;
    client_.engine->TakeRecent(recent);
    for (const auto& [rpc, series] : recent) {
      IntervalSeries::ForEach({&series}, [&](const IntervalSeries::View& view) {
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
    EXPECT_EQ(MergeChunk(std::move(chunk), logs), absl::OkStatus());
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

TEST_F(ProcessEnginesTest, ALostClientThatHasReportedNothingSaysSo) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  kill(client_.engine->pid(), SIGKILL);
  ASSERT_TRUE(client_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  ServiceLogs logs;
  EXPECT_FALSE(client_.engine
                   ->Collect([&](ResultChunk chunk) {
                     EXPECT_EQ(MergeChunk(std::move(chunk), logs),
                               absl::OkStatus());
                   })
                   .ok());
  const ServicePerformanceLog& log = logs.instance_logs().at("client/0");
  EXPECT_THAT(log.engine_error_message(),
              HasSubstr("; what it measured is lost"));
  EXPECT_TRUE(log.has_measurements_end_timestamp_ns());
  EXPECT_EQ(log.measurements_end_timestamp_ns(), 0);
}

TEST_F(ProcessEnginesTest, ALossBeforeTheStartEndsTheTrafficOnce) {
  SetTest("max_duration_us: 60000000");
  MakeBoth();
  kill(client_.engine->pid(), SIGKILL);
  ASSERT_TRUE(client_.overloaded.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_FALSE(client_.finished.HasBeenNotified());
  client_.engine->Start(RealClock().MonotonicNs());
  EXPECT_TRUE(client_.finished.HasBeenNotified());
}

TEST_F(ProcessEnginesTest, AProcessThatHangsIsKilled) {
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

// The parent of a process; 0 if there is no such process.
pid_t ParentOf(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  pid_t parent = 0;
  while (status >> word) {
    if (word == "PPid:" && status >> parent) return parent;
  }
  return 0;
}

// Waits for an idle process; 0 if there is none.
pid_t WaitForIdleProcess() {
  const absl::Time deadline = absl::Now() + kGenerous;
  while (absl::Now() < deadline) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      pid_t pid = 0;
      if (absl::SimpleAtoi(entry.path().filename().string(), &pid) &&
          ParentOf(pid) == getpid()) {
        return pid;
      }
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  return 0;
}

TEST_F(ProcessEnginesTest, AProcessThatDiesWhileItIsIdleIsNotUsed) {
  SetTest("max_iteration_count: 1");
  const pid_t idle = WaitForIdleProcess();
  ASSERT_GT(idle, 0);
  kill(idle, SIGKILL);
  ASSERT_TRUE(WaitForEnd(idle));
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  EXPECT_NE(server_.engine->pid(), idle);
}

TEST_F(ProcessEnginesTest, TheIdleProcessIsTheNextEngines) {
  SetTest("max_iteration_count: 1");
  const pid_t idle = WaitForIdleProcess();
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  EXPECT_EQ(server_.engine->pid(), idle);
}

TEST_F(ProcessEnginesTest, AnIdleProcessThatHangsIsReplaced) {
  SetTest("max_iteration_count: 1");
  const pid_t idle = WaitForIdleProcess();
  ASSERT_GT(idle, 0);
  // Until the new process has called execve(2), its parent waits for it
  // (vfork), so it must not be stopped yet.
  ASSERT_TRUE(WaitUntil([idle] {
    std::string name;
    std::ifstream(absl::StrCat("/proc/", idle, "/comm")) >> name;
    return name == "engine";
  }));
  kill(idle, SIGSTOP);
  EXPECT_EQ(Make(1, server_), absl::OkStatus());
  EXPECT_NE(server_.engine->pid(), idle);
  EXPECT_TRUE(WaitForEnd(idle));
  EXPECT_FALSE(server_.overloaded.HasBeenNotified()) << server_.overload;
}

// A process that was not idle before, which a thread of the test kills as soon
// as it appears.
TEST_F(ProcessEnginesTest, ALossWhileAnEngineIsMadeIsAnError) {
  SetTest("max_iteration_count: 1");
  const pid_t idle = WaitForIdleProcess();
  ASSERT_GT(idle, 0);
  kill(idle, SIGKILL);
  ASSERT_TRUE(WaitForEnd(idle));
  std::thread killer([] { kill(WaitForIdleProcess(), SIGKILL); });
  const absl::Status status = Make(1, server_);
  killer.join();
  EXPECT_THAT(status.message(), HasSubstr("was killed by signal 9"));
}

TEST_F(ProcessEnginesTest, ALossWhileResultsComeIsAnError) {
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

// The number of existing child processes.
int CountProcesses() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid) &&
        ParentOf(pid) == getpid()) {
      ++count;
    }
  }
  return count;
}

TEST_F(ProcessEnginesTest, AProcessThatDoesNotEndIsKilled) {
  SetTest("max_iteration_count: 1");
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  const pid_t pid = server_.engine->pid();
  kill(pid, SIGSTOP);
  server_.engine.reset();
  EXPECT_TRUE(WaitForEnd(pid));
}

TEST_F(ProcessEnginesTest, OneProcessIsKeptAhead) {
  SetTest("max_iteration_count: 1");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Make(1, server_), absl::OkStatus());
    server_.engine.reset();
    engines_.Expect(0);
    engines_.Expect(0);
  }
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  // Earlier processes may still be ending; a surplus one would not end.
  EXPECT_TRUE(WaitUntil([] { return CountProcesses() == 1; }));
}

TEST_F(ProcessEnginesTest, AnExpectationStartsProcessesAhead) {
  SetTest("max_iteration_count: 1");
  engines_.Expect(2);
  MakeBoth();
  client_.engine.reset();
  server_.engine.reset();
  // One process is left for the next engine.
  EXPECT_GT(WaitForIdleProcess(), 0);
}

TEST_F(ProcessEnginesTest, ProcessesThatNobodyNeededEnd) {
  engines_.Expect(3);
  ASSERT_TRUE(WaitUntil([] { return CountProcesses() == 3; }));
  engines_.Expect(0);
  EXPECT_TRUE(WaitUntil([] { return CountProcesses() == 1; }));
}

TEST_F(ProcessEnginesTest, EnginesHaveTheirOwnLimitOfFiles) {
  SetTest("max_iteration_count: 1");
  ASSERT_EQ(Make(1, server_), absl::OkStatus());
  rlimit of_engine;
  rlimit of_this;
  ASSERT_EQ(prlimit(server_.engine->pid(), RLIMIT_NOFILE, nullptr, &of_engine),
            0);
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &of_this), 0);
  EXPECT_EQ(of_engine.rlim_cur, kMaxFiles);
  EXPECT_EQ(of_engine.rlim_max, of_this.rlim_max);
  EXPECT_NE(of_this.rlim_cur, kMaxFiles);
}

// The limits exceed what the kernel allows.
TEST(ProcessEngineLimitsDeathTest, LimitsBeyondTheKernelsAreNotMade) {
  const auto too_many = int64_t{1} << 40;
  // In another process, because it also ignores signals from then on.
  EXPECT_EXIT(
      {
        const absl::Status status = SetUpEngineProcess(too_many);
        std::cerr << status;
        _exit(status.ok() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "cannot limit the process to 1099511627776");
}

TEST_F(ProcessEnginesTest, AnErrorOfTheDriverIsTheUsers) {
  SetTest("max_iteration_count: 1");
  ASSERT_EQ(Make(0, client_), absl::OkStatus());
  EXPECT_THAT(client_.engine->Connect({"127.0.0.1:1"}, absl::Now() + kGenerous)
                  .message(),
              AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("process"))));
}

// The behaviour of an engine process without its node manager.
TEST(ServeEnginesTest, EndsWithTheSocket) {
  auto ends = MessageSocket::MakePair();
  ASSERT_TRUE(ends.ok());
  ends->first.Close();
  EXPECT_EQ(ServeEngines(std::move(ends->second), InProcessEngines()),
            absl::OkStatus());
}

TEST(ServeEnginesDeathTest, EndsTheProcessIfTheNodeManagerFallsSilent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto ends = MessageSocket::MakePair();
        MessageSocket node_manager(std::move(ends->first));
        EngineCommand command;
        command.mutable_ask_progress();
        node_manager.Send(command);
        (void)ServeEngines(std::move(ends->second), InProcessEngines());
      },
      testing::ExitedWithCode(EXIT_FAILURE), "has said nothing for 4s");
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], distbench::kEngineSubcommand) == 0) {
    int64_t max_files = 0;
    for (absl::string_view flag : absl::MakeSpan(argv, argc)) {
      if (!absl::ConsumePrefix(&flag, distbench::kMaxFilesFlag)) continue;
      if (!absl::SimpleAtoi(flag.substr(1), &max_files)) return 1;
    }
    if (!distbench::SetUpEngineProcess(max_files).ok()) return 1;
    return distbench::ServeEngines(
               distbench::FileDescriptor(distbench::kEngineSocket),
               distbench::InProcessEngines())
                   .ok()
               ? 0
               : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
