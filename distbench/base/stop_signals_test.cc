// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/stop_signals.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

constexpr int kExitCode = 3;

// Runs `body` in a child process without other threads, and returns its wait
// status, as waitpid() does.
int RunInChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void ExpectExitCode(int expected, const std::function<int()>& body) {
  const int status = RunInChild(body);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), expected);
}

class StopSignalsTest : public testing::TestWithParam<int> {};

TEST_P(StopSignalsTest, SignalEndsWait) {
  ExpectExitCode(0, [] {
    StopSignals stop(kExitCode);
    if (stop.requested()) return 10;
    kill(getpid(), GetParam());
    stop.Wait();
    return stop.requested() ? 0 : 11;
  });
}

TEST_P(StopSignalsTest, SignalCallsHandler) {
  ExpectExitCode(0, [] {
    StopSignals stop(kExitCode);
    absl::Notification called;
    stop.SetHandler([&] { called.Notify(); });
    kill(getpid(), GetParam());
    called.WaitForNotification();
    return 0;
  });
}

TEST_P(StopSignalsTest, SecondSignalEndsTheProcessDuringTheHandler) {
  ExpectExitCode(kExitCode, [] {
    StopSignals stop(kExitCode);
    absl::Notification in_handler;
    stop.SetHandler([&] {
      in_handler.Notify();
      while (true) pause();
    });
    kill(getpid(), GetParam());
    in_handler.WaitForNotification();
    kill(getpid(), GetParam());
    while (true) pause();
    return 0;
  });
}

TEST_P(StopSignalsTest, SignalThatWasIgnoredAtTheStartCounts) {
  ExpectExitCode(0, [] {
    signal(GetParam(), SIG_IGN);
    StopSignals stop(kExitCode);
    kill(getpid(), GetParam());
    stop.Wait();
    return 0;
  });
}

TEST_P(StopSignalsTest, SignalEndsTheProcessOnceItIsGivenBack) {
  const int status = RunInChild([] {
    { StopSignals stop(kExitCode); }
    raise(GetParam());
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), GetParam());
}

// Sends a signal to this process as ChildProcess::PassOn() does.
void PassOnToSelf(int signal) {
  sigval value = {};
  value.sival_int = kPassedOnSignal;
  sigqueue(getpid(), signal, value);
}

// Waits until the signal has been read.
void AwaitRead(int signal) {
  sigset_t pending;
  do {
    sched_yield();
    sigpending(&pending);
  } while (sigismember(&pending, signal) == 1);
}

TEST_P(StopSignalsTest, SignalThatIsAlsoPassedOnIsNoSecondOne) {
  for (const bool is_passed_on_first : {false, true}) {
    ExpectExitCode(0, [is_passed_on_first] {
      StopSignals stop(kExitCode);
      for (const bool passes_on : {is_passed_on_first, !is_passed_on_first}) {
        if (passes_on) PassOnToSelf(GetParam());
        if (!passes_on) kill(getpid(), GetParam());
        AwaitRead(GetParam());
      }
      stop.Wait();
      return 0;
    });
  }
}

TEST_P(StopSignalsTest, SecondSignalThatIsPassedOnEndsTheProcess) {
  ExpectExitCode(kExitCode, [] {
    StopSignals stop(kExitCode);
    PassOnToSelf(GetParam());
    AwaitRead(GetParam());
    PassOnToSelf(GetParam());
    while (true) pause();
    return 0;
  });
}

bool Tell(int pipe) { return write(pipe, "x", 1) == 1; }

bool Hear(int pipe) {
  char byte;
  return read(pipe, &byte, 1) == 1;
}

// Sends a child three signals, each after it has read the one before, as the
// kernel may do when a parent with threads dies. Returns the child's exit code.
int ExitCodeAfterThreeFromParent(int death_signal) {
  int to_child[2];
  int from_child[2];
  EXPECT_EQ(pipe(to_child), 0);
  EXPECT_EQ(pipe(from_child), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(to_child[1]);
    prctl(PR_SET_PDEATHSIG, death_signal);
    {
      StopSignals stop(kExitCode);
      while (Tell(from_child[1]) && Hear(to_child[0])) AwaitRead(SIGTERM);
      stop.Wait();
    }
    _exit(0);
  }
  close(from_child[1]);
  for (int i = 0; i < 3 && Hear(from_child[0]); ++i) {
    kill(child, SIGTERM);
    Tell(to_child[1]);
  }
  Hear(from_child[0]);
  close(to_child[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(to_child[0]);
  close(from_child[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StopSignalsOfParentTest, ItsDeathMayBeToldMoreThanOnce) {
  EXPECT_EQ(ExitCodeAfterThreeFromParent(SIGTERM), 0);
}

TEST(StopSignalsOfParentTest, WhoStaysAliveMeansTheSecondSignal) {
  EXPECT_EQ(ExitCodeAfterThreeFromParent(0), kExitCode);
  EXPECT_EQ(ExitCodeAfterThreeFromParent(SIGKILL), kExitCode);
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignalsTest,
                         testing::Values(SIGINT, SIGTERM));

TEST(StopSignalsRequestTest, RequestCallsHandlerOnce) {
  ExpectExitCode(0, [] {
    StopSignals stop(kExitCode);
    int calls = 0;
    stop.SetHandler([&] { ++calls; });
    stop.Request();
    stop.Request();
    stop.Wait();
    return calls == 1 ? 0 : 10;
  });
}

TEST(StopSignalsRequestTest, LateHandlerIsCalledAtOnce) {
  ExpectExitCode(0, [] {
    StopSignals stop(kExitCode);
    stop.Request();
    int calls = 0;
    stop.SetHandler([&] { ++calls; });
    return calls == 1 ? 0 : 10;
  });
}

TEST(StopSignalsRequestTest, ReplacedHandlerIsNotCalled) {
  ExpectExitCode(0, [] {
    StopSignals stop(kExitCode);
    int calls = 0;
    stop.SetHandler([&] { ++calls; });
    stop.SetHandler({});
    stop.Request();
    return calls == 0 ? 0 : 10;
  });
}

}  // namespace
}  // namespace distbench::base
