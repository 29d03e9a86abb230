// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/benchpress/final_hook.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(FinalCommandTest, KeepsWhatItPrinted) {
  auto command = FinalCommand::Start("echo to stdout; echo $WHERE >&2",
                                     {{"WHERE", "to stderr"}});
  ASSERT_TRUE(command.ok()) << command.status();
  const FinalCommandOutcome outcome = (*command)->Finish(absl::Seconds(60));
  EXPECT_EQ(outcome.problem, "");
  EXPECT_EQ(outcome.output, "to stdout\nto stderr\n");
}

TEST(FinalCommandTest, KeepsTheStartOfALongOutput) {
  auto command = FinalCommand::Start("head -c 1000000 /dev/zero", {});
  ASSERT_TRUE(command.ok()) << command.status();
  const FinalCommandOutcome outcome = (*command)->Finish(absl::Seconds(60));
  EXPECT_EQ(outcome.problem, "");
  EXPECT_THAT(outcome.output, SizeIs(FinalCommand::kMaxOutputBytes));
}

TEST(FinalCommandTest, SaysThatItFailed) {
  auto command = FinalCommand::Start("exit 7", {});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ((*command)->Finish(absl::Seconds(60)).problem,
            "exited with status 7");
}

TEST(FinalCommandTest, KillsWhatDoesNotEndAndAllThatItStarted) {
  auto command = FinalCommand::Start("sleep 1000 & echo $!; sleep 1000", {});
  ASSERT_TRUE(command.ok()) << command.status();
  const FinalCommandOutcome outcome =
      (*command)->Finish(absl::Milliseconds(200));
  EXPECT_THAT(outcome.problem, HasSubstr("was killed"));
}

TestResult RunFinal(FinalHook& hook, ProbePhase phase) {
  const TestRunner runner = hook.Wrap(
      [](const DistributedSystemDescription&, const ProgressWatcher& watch) {
        RunTestsEvent started;
        started.mutable_started();
        watch(started);
        return TestResult();
      });
  hook.Announce(
      {.request = {.phase = phase, .load = 812},
       .timing = {.warmup = absl::Seconds(2), .measured = absl::Seconds(60)}});
  return *runner({}, [](const RunTestsEvent&) { return true; });
}

TEST(FinalHookTest, TellsWhenItIsMeasuredAndKeepsTheOutput) {
  FinalHook hook(
      "echo load $DISTBENCH_FINAL_LOAD from $DISTBENCH_FINAL_START for "
      "$((DISTBENCH_FINAL_END_UNIX - DISTBENCH_FINAL_START_UNIX)) s");
  const TestResult result = RunFinal(hook, ProbePhase::kFinal);
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  const Finding& finding = result.run_info().findings(0);
  EXPECT_EQ(finding.severity(), Finding::NOTE);
  EXPECT_EQ(finding.code(), kFinalCommandFinding);
  EXPECT_THAT(finding.message(), HasSubstr("load 812 from 20"));
  EXPECT_THAT(finding.message(), HasSubstr("for 60 s"));
}

TEST(FinalHookTest, WarnsOfAFailure) {
  FinalHook hook("no_such_profiler");
  const TestResult result = RunFinal(hook, ProbePhase::kFinal);
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).severity(), Finding::WARN);
  EXPECT_THAT(result.run_info().findings(0).message(),
              HasSubstr("exited with status 127"));
}

TEST(FinalHookTest, IsForFinalRunsOnly) {
  FinalHook hook("echo");
  EXPECT_THAT(RunFinal(hook, ProbePhase::kRefine).run_info().findings(),
              SizeIs(0));
}

}  // namespace
}  // namespace distbench::search
