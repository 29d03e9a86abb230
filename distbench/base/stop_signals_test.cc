#include "distbench/base/stop_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace distbench {
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
}  // namespace distbench
