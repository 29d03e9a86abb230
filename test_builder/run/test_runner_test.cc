// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/test_runner.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/results/result_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/run/testing/fake_backend.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<DistributedSystemDescription> Tests(
    const std::vector<std::string>& names) {
  std::vector<DistributedSystemDescription> tests;
  for (const std::string& name : names) {
    DistributedSystemDescription& test = tests.emplace_back();
    test.set_name(name);
    (*test.mutable_attributes())["test_duration"] = "45";
  }
  return tests;
}

class TestRunnerTest : public testing::Test {
 protected:
  TestRunnerTest()
      : path_(absl::StrCat(
            testing::TempDir(), "/",
            testing::UnitTest::GetInstance()->current_test_info()->name())),
        directory_(path_, "", "# header\n") {
    std::filesystem::remove_all(path_);
    EXPECT_TRUE(directory_.Create().ok());
  }

  std::vector<std::string> Run(const std::vector<std::string>& names) {
    const auto tests = Tests(names);
    TestRunner runner(
        backend_, directory_,
        {.output = &output_,
         .messages = &messages_,
         .progress = {.test_count = static_cast<int>(names.size()),
                      .clock = &clock_,
                      .write =
                          [this](absl::string_view text) {
                            messages_ << std::string(text);
                          }},
         .stop = &stop_});
    outcomes_ = runner.RunAll(tests);
    std::vector<std::string> verdicts;
    for (const TestOutcome& outcome : outcomes_) {
      verdicts.push_back(outcome.verdict);
    }
    return verdicts;
  }

  bool Exists(const std::string& name) const {
    return std::filesystem::exists(absl::StrCat(path_, "/", name));
  }

  const std::string path_;
  const ResultDirectory directory_;
  base::FakeClock clock_;
  FakeBackend backend_;
  base::StopSignals stop_{/*exit_code=*/3};
  std::ostringstream output_;
  std::ostringstream messages_;
  std::vector<TestOutcome> outcomes_;
};

TEST_F(TestRunnerTest, FilesConfigAndResultOfEachTest) {
  EXPECT_THAT(Run({"a", "b"}), ElementsAre("ok", "ok"));
  EXPECT_THAT(backend_.tests_run(), ElementsAre("a", "b"));
  EXPECT_TRUE(Exists("a.config"));
  const auto results = results::ReadResults(directory_.ResultPath("b"));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->test_results(0).traffic_config().name(), "b");
  EXPECT_EQ(output_.str(),
            "Test summary:\nRPC latency summary:\n  rpc\n"
            "Test summary:\nRPC latency summary:\n  rpc\n");
  EXPECT_THAT(messages_.str(), HasSubstr("Individual test config saved in "));
  EXPECT_THAT(messages_.str(), HasSubstr("Trying to produce "));
  EXPECT_THAT(messages_.str(), HasSubstr("Starting at "));
  EXPECT_THAT(messages_.str(), HasSubstr("1 test left, about 45s of traffic."));
}

TEST_F(TestRunnerTest, ShowsWhichTestRuns) {
  backend_.SetBody("b", [&](const TestBackend::EventObserver& observer,
                            TestSequenceResults& results) {
    RunTestsEvent event;
    event.mutable_started()->set_name("b");
    observer(event);
    *results.add_test_results() = FakeResult("b", "rpc", 1, 1);
    return absl::OkStatus();
  });
  Run({"a", "b", "c"});
  EXPECT_THAT(messages_.str(), HasSubstr("[2/3] b: started"));
}

TEST_F(TestRunnerTest, ResumesWhereItStopped) {
  Run({"a"});
  EXPECT_THAT(Run({"a", "b"}), ElementsAre("ok", "ok"));
  EXPECT_THAT(backend_.tests_run(), ElementsAre("a", "b"));
  EXPECT_TRUE(outcomes_[0].kept);
  EXPECT_EQ(outcomes_[0].rpcs.size(), 1);
  EXPECT_FALSE(outcomes_[1].kept);
}

TEST_F(TestRunnerTest, CountsAsLeftWhatWillRun) {
  Run({"b"});
  messages_.str("");
  Run({"a", "b", "c"});
  EXPECT_THAT(messages_.str(), HasSubstr("1 test left, about 45s"));
  EXPECT_THAT(messages_.str(), Not(HasSubstr("2 tests left")));
}

TEST_F(TestRunnerTest, DoesNotReplaceAResultThatItCanNotRead) {
  { std::ofstream(directory_.ResultPath("a")) << "no result"; }
  EXPECT_THAT(Run({"a"}), ElementsAre(kFailed));
  EXPECT_THAT(backend_.tests_run(), IsEmpty());
  EXPECT_THAT(messages_.str(), HasSubstr("remove it to run the test again"));
}

TEST_F(TestRunnerTest, GoesOnAfterAFailedTestAndRunsItAgainNextTime) {
  backend_.SetBody(
      "a", [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        TestResult result = FakeResult("a", "rpc", 3, 10);
        result.mutable_run_info()->set_failure("node1 was lost");
        *results.add_test_results() = result;
        return absl::OkStatus();
      });
  EXPECT_THAT(Run({"a", "b"}), ElementsAre(kFailed, "ok"));
  EXPECT_THAT(messages_.str(),
              HasSubstr("a did not run to its end: node1 was lost"));
  EXPECT_TRUE(Exists("a.failed.pb.gz"));
  EXPECT_FALSE(Exists("a.pb.gz"));
  EXPECT_EQ(outcomes_[0].rpcs.size(), 1);

  backend_.SetBody(
      "a", [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        *results.add_test_results() = FakeResult("a", "rpc", 3, 10);
        return absl::OkStatus();
      });
  EXPECT_THAT(Run({"a", "b"}), ElementsAre("ok", "ok"));
  EXPECT_THAT(backend_.tests_run(), ElementsAre("a", "b", "a"));
  EXPECT_TRUE(Exists("a.pb.gz"));
  EXPECT_FALSE(Exists("a.failed.pb.gz"));
}

TEST_F(TestRunnerTest, RunsATestWhoseNumbersAreFalseAgainNextTime) {
  backend_.SetBody(
      "a", [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        TestResult result = FakeResult("a", "rpc", 3, 10);
        Finding& finding = *result.mutable_run_info()->add_findings();
        finding.set_severity(Finding::INVALID);
        finding.set_message("sends were late");
        *results.add_test_results() = result;
        return absl::OkStatus();
      });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Run({"a"}), ElementsAre("invalid"));
    EXPECT_FALSE(outcomes_[0].kept);
    EXPECT_TRUE(Exists("a.failed.pb.gz"));
    EXPECT_FALSE(Exists("a.pb.gz"));
  }
  EXPECT_THAT(backend_.tests_run(), ElementsAre("a", "a"));
  EXPECT_THAT(messages_.str(), HasSubstr("a is invalid: sends were late"));
}

TEST_F(TestRunnerTest, ARefusedTestIsAFailedOne) {
  backend_.SetBody("a",
                   [](const TestBackend::EventObserver&, TestSequenceResults&) {
                     return absl::InvalidArgumentError("too few nodes");
                   });
  EXPECT_THAT(Run({"a", "b"}), ElementsAre(kFailed, "ok"));
  EXPECT_THAT(messages_.str(), HasSubstr("a failed: too few nodes"));
  EXPECT_FALSE(Exists("a.failed.pb.gz"));
}

TEST_F(TestRunnerTest, NoResultIsAFailure) {
  backend_.SetBody("a", [](const TestBackend::EventObserver&,
                           TestSequenceResults&) { return absl::OkStatus(); });
  EXPECT_THAT(Run({"a"}), ElementsAre(kFailed));
}

TEST_F(TestRunnerTest, AResultThatCanNotBeStoredIsAFailure) {
  std::filesystem::create_directories(directory_.FailedResultPath("a"));
  backend_.SetBody(
      "a", [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        *results.add_test_results() = FakeResult("a", "rpc", 3, 10);
        return absl::AbortedError("lost");
      });
  EXPECT_THAT(Run({"a"}), ElementsAre(kFailed));
  EXPECT_THAT(messages_.str(), HasSubstr(directory_.FailedResultPath("a")));
}

TEST_F(TestRunnerTest, StopsWhereThereIsNoSequencer) {
  backend_.SetBody("a", [&](const TestBackend::EventObserver&,
                            TestSequenceResults& results) {
    *results.add_test_results() = FakeResult("a", "rpc", 3, 10);
    backend_.set_connect_status(absl::UnavailableError("nobody at host:1"));
    return absl::OkStatus();
  });
  EXPECT_THAT(Run({"a", "b", "c"}), ElementsAre("ok", kNotRun, kNotRun));
  EXPECT_THAT(messages_.str(), HasSubstr("nobody at host:1"));
  EXPECT_THAT(messages_.str(), HasSubstr("the same command resumes"));
}

TEST_F(TestRunnerTest, StopsOnRequestAndKeepsWhatIsFinished) {
  backend_.SetBody("b", [&](const TestBackend::EventObserver& observer,
                            TestSequenceResults& results) {
    stop_.Request();
    RunTestsEvent event;
    event.mutable_progress();
    observer(event);
    *results.add_test_results() = FakeResult("b", "rpc", 3, 10);
    return absl::CancelledError("cancelled");
  });
  EXPECT_THAT(Run({"a", "b", "c"}), ElementsAre("ok", kNotRun, kNotRun));
  EXPECT_EQ(backend_.cancel_count(), 1);
  EXPECT_TRUE(Exists("a.pb.gz"));
  EXPECT_FALSE(Exists("b.pb.gz"));
  EXPECT_FALSE(Exists("c.config"));
  EXPECT_THAT(messages_.str(), HasSubstr("Stopped b; the same command"));
}

}  // namespace
}  // namespace distbench::test_builder
