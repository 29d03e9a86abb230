// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests with real engine processes, for which this program starts itself again
// (see main()).

#include "distbench/hosting/process_engines.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/engine_process.h"
#include "distbench/hosting/engine_server.h"
#include "distbench/hosting/testing/process_engines_fixture.h"
#include "gmock/gmock.h"
#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

using ::testing::HasSubstr;

// main() runs OwnEngineThatStops() if this is its first argument.
constexpr char kNodeManager[] = "node_manager";

// Engines that find this in their environment stop (SIGSTOP) before they do
// anything.
constexpr char kStopVariable[] = "DISTBENCH_TEST_ENGINES_STOP";

// Stands for a node manager: starts an engine, prints its process id, and waits
// to be killed.
int OwnEngineThatStops() {
  setenv(kStopVariable, "1", 1);
  const auto engine = EngineProcess::Launch({}, {});
  if (!engine.ok()) return 1;
  std::cout << (*engine)->pid() << std::endl;
  while (true) pause();
}

TEST_F(ProcessEnginesTest, ProcessesEndWithTheirEngines) {
  SetTest("max_iteration_count: 1");
  MakeBoth();
  const pid_t pid = client_.engine->pid();
  client_.engine.reset();
  EXPECT_TRUE(WaitForEnd(pid));
  EXPECT_TRUE(Exists(server_.engine->pid()));
}

TEST_F(ProcessEnginesTest, ProgramsByNameHostEnginesOfTestsThatAskForThem) {
  SetTest("max_iteration_count: 10", "tcp", "other");
  MakeBoth();
  Start();
  EXPECT_TRUE(client_.finished.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_EQ(client_.engine->progress().succeeded_count(), 10);
}

TEST_F(ProcessEnginesTest, AnUnknownProgramIsAnError) {
  SetTest("max_iteration_count: 10", "tcp", "absent");
  EXPECT_THAT(std::string(Make(1, server_).message()),
              HasSubstr("no engine \"absent\"; start it with "
                        "--engine=absent=PATH"));
}

// It may know less of the language than the node manager's own.
TEST_F(ProcessEnginesTest, AProgramByNameChecksTheTest) {
  SetTest("max_iteration_count: 10", "tcp", "other");
  test_.GetReflection()->MutableUnknownFields(&test_)->AddVarint(4711, 1);
  EXPECT_THAT(std::string(Make(1, server_).message()),
              HasSubstr("does not know field 4711 of the message"));
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
  const base::FileDescriptor folder(
      open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
  EXPECT_EQ(client_.engine->progress().succeeded_count(), 10);
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

std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid) &&
        ParentOf(pid) == getpid()) {
      children.push_back(pid);
    }
  }
  return children;
}

// Waits for an idle process; 0 if there is none.
pid_t WaitForIdleProcess() {
  std::vector<pid_t> children;
  WaitUntil([&] { return !(children = Children()).empty(); });
  return children.empty() ? 0 : children.front();
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
  EXPECT_TRUE(WaitUntil([] { return Children().size() == 1; }));
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
  ASSERT_TRUE(WaitUntil([] { return Children().size() == 3; }));
  engines_.Expect(0);
  EXPECT_TRUE(WaitUntil([] { return Children().size() == 1; }));
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

// The behaviour of an engine process without its node manager.
// The state of a process in /proc, such as 'T' for a stopped one.
char StateOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string number, name;
  char state = 0;
  file >> number >> name >> state;
  return state;
}

// Its node manager may be killed before an engine has set itself up, or while
// it warms up.
TEST(EngineProcessTest, EndsWithItsNodeManagerAtAnyTime) {
  // So that the engine becomes a child of this process, and can be waited for.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  base::FileDescriptor output;
  auto node_manager = base::ChildProcess::Start(
      {.path = "/proc/self/exe", .arguments = {"test", kNodeManager}}, &output);
  ASSERT_TRUE(node_manager.ok()) << node_manager.status();
  std::string line;
  for (char c; read(output.get(), &c, 1) == 1 && c != '\n';) line += c;
  pid_t engine = 0;
  ASSERT_TRUE(absl::SimpleAtoi(line, &engine)) << line;
  EXPECT_TRUE(WaitUntil([&] { return StateOf(engine) == 'T'; }));
  node_manager->Finish();
  EXPECT_TRUE(
      WaitUntil([&] { return waitpid(engine, nullptr, WNOHANG) == engine; }));
  kill(engine, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

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
}  // namespace distbench::hosting

int main(int argc, char** argv) {
  if (argc >= 2 &&
      std::strcmp(argv[1], distbench::hosting::kNodeManager) == 0) {
    return distbench::hosting::OwnEngineThatStops();
  }
  if (argc >= 2 &&
      std::strcmp(argv[1], distbench::hosting::kEngineSubcommand) == 0) {
    if (getenv(distbench::hosting::kStopVariable) != nullptr) raise(SIGSTOP);
    int64_t max_files = 0;
    for (absl::string_view flag : absl::MakeSpan(argv, argc)) {
      if (!absl::ConsumePrefix(&flag, distbench::hosting::kMaxFilesFlag))
        continue;
      if (!absl::SimpleAtoi(flag.substr(1), &max_files)) return 1;
    }
    if (!distbench::hosting::SetUpEngineProcess(max_files).ok()) return 1;
    return distbench::hosting::ServeEngines(
               distbench::base::FileDescriptor(
                   distbench::hosting::kEngineSocket),
               distbench::hosting::InProcessEngines())
                   .ok()
               ? 0
               : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
