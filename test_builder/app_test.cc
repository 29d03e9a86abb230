// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/app.h"

#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/run/testing/fake_backend.h"

namespace distbench::test_builder {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr int kOk = 0;
constexpr int kUsage = 1;
constexpr int kGateNotMet = 2;
constexpr int kRunFailed = 3;

// Forwards calls to a backend that outlives it.
class BackendHandle final : public TestBackend {
 public:
  explicit BackendHandle(TestBackend& backend) : backend_(backend) {}
  absl::Status Connect() override { return backend_.Connect(); }
  absl::Status Run(const DistributedSystemDescription& test,
                   EventObserver observer,
                   TestSequenceResults& results) override {
    return backend_.Run(test, observer, results);
  }
  void Cancel() override { backend_.Cancel(); }

 private:
  TestBackend& backend_;
};

class AppTest : public testing::Test {
 protected:
  AppTest()
      : directory_(absl::StrCat(
            testing::TempDir(), "/",
            testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(directory_);
  }

  int Run(const std::vector<std::string>& arguments) {
    output_.str("");
    messages_.str("");
    return RunTestBuilder(
        arguments, {.console = {.output = &output_,
                                .messages = &messages_,
                                .progress = {.clock = &clock_,
                                             .write = [](absl::string_view) {}},
                                .stop = &stop_},
                    .version = "a version",
                    .make_backend = [this](const std::string& address,
                                           const security::TlsFiles& tls) {
                      address_ = address;
                      tls_ = tls;
                      return std::make_unique<BackendHandle>(backend_);
                    }});
  }

  bool Exists(const std::string& name) const {
    return std::filesystem::exists(absl::StrCat(directory_, "/", name));
  }

  const std::string directory_;
  base::FakeClock clock_;
  base::StopSignals stop_{/*exit_code=*/3};
  FakeBackend backend_;
  std::string address_;
  security::TlsFiles tls_;
  std::ostringstream output_;
  std::ostringstream messages_;
};

TEST_F(AppTest, PrintsConfigs) {
  EXPECT_EQ(Run({"clique:node_count=3,4", "-t", "10"}), kOk);
  EXPECT_THAT(output_.str(),
              StartsWith("# produced by test_builder clique:node_count=3,4 -t "
                         "10\ntests {\n"));
  const auto tests = config::ParseTestSequence(output_.str(), "output");
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_EQ(tests->tests_size(), 2);
  EXPECT_EQ(messages_.str(), "");
}

TEST_F(AppTest, PrintsHelp) {
  EXPECT_EQ(Run({"help"}), kOk);
  EXPECT_THAT(output_.str(), HasSubstr("Usage:"));
  EXPECT_EQ(Run({"help", "clique"}), kOk);
  EXPECT_THAT(output_.str(), StartsWith("clique: "));
  EXPECT_EQ(Run({"help", "clikue"}), kUsage);
  EXPECT_THAT(messages_.str(), HasSubstr("did you mean \"clique\"?"));
}

TEST_F(AppTest, ExplainsWrongUsage) {
  EXPECT_EQ(Run({}), kUsage);
  EXPECT_THAT(messages_.str(), HasSubstr("See: test_builder help"));
  EXPECT_EQ(Run({"clique:node_cuont=5"}), kUsage);
  EXPECT_THAT(messages_.str(), HasSubstr("did you mean node_count?"));
  EXPECT_EQ(output_.str(), "");
}

TEST_F(AppTest, NotesUnknownNames) {
  EXPECT_EQ(Run({"clique:rack=7"}), kOk);
  EXPECT_THAT(messages_.str(),
              HasSubstr("test_builder: note: rack is not a parameter"));
}

TEST_F(AppTest, WritesConfigsToADirectory) {
  EXPECT_EQ(Run({"-o", directory_, "-l", "x_", "clique:node_count=3,4"}), kOk);
  EXPECT_TRUE(Exists(
      "x_clique_sync_burst_3x16000x1024x1024-grpc_polling_inline.config"));
  EXPECT_TRUE(Exists("x_test_sequence.config"));
  EXPECT_THAT(messages_.str(),
              AllOf(HasSubstr("made the directory"),
                    HasSubstr("Individual test config saved in"),
                    HasSubstr("Test sequence config saved in")));
  EXPECT_EQ(output_.str(), "");
}

TEST_F(AppTest, QuietLeavesOutWhatHappensAsItShould) {
  EXPECT_EQ(Run({"-o", directory_, "--quiet", "clique:node_count=3,4"}), kOk);
  EXPECT_EQ(messages_.str(), "");
  EXPECT_EQ(Run({"-o", directory_, "--quiet", "-s", "host:1", "tripartite"}),
            kOk);
  EXPECT_EQ(messages_.str(), "");
  EXPECT_EQ(Run({"--quiet", "clique:rack=7"}), kOk);
  EXPECT_THAT(messages_.str(), HasSubstr("note: rack is not a parameter"));
}

TEST_F(AppTest, PrintsItsVersion) {
  EXPECT_EQ(Run({"--version"}), kOk);
  EXPECT_EQ(output_.str(), "a version\n");
}

TEST_F(AppTest, WritesNoSequenceOfOneTest) {
  EXPECT_EQ(Run({"-o", directory_, "clique"}), kOk);
  EXPECT_FALSE(Exists("test_sequence.config"));
}

TEST_F(AppTest, BuildsWhatItCanNotRun) {
  EXPECT_EQ(Run({"clique:homa"}), kOk);
  EXPECT_THAT(messages_.str(),
              HasSubstr("note: these tests cannot be run here"));
  EXPECT_THAT(output_.str(), HasSubstr("protocol_name: \"homa\""));
  EXPECT_EQ(Run({"clique:homa", "-o", directory_, "-s", "host:1"}), kUsage);
  EXPECT_THAT(backend_.tests_run(), IsEmpty());
}

TEST_F(AppTest, ADryRunSaysWhatWouldRun) {
  EXPECT_EQ(
      Run({"--dry_run", "-o", directory_, "-t", "40", "clique:node_count=3,4"}),
      kOk);
  EXPECT_THAT(
      output_.str(),
      AllOf(HasSubstr("40 s  clique_sync_burst_3x16000x1024x1024-grpc_polling_"
                      "inline\n"),
            HasSubstr("2 tests, at most 1m20s of traffic to run")));
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(AppTest, RunsTestsAndResumes) {
  const std::vector<std::string> two = {"-o", directory_, "-s", "host:1",
                                        "tripartite:client_count=1,2"};
  const std::vector<std::string> three = {"-o", directory_, "-s", "host:1",
                                          "tripartite:client_count=1,2,3"};
  EXPECT_EQ(Run(two), kOk);
  EXPECT_EQ(address_, "host:1");
  EXPECT_TRUE(Exists("tripartite_1x1x10-grpc_polling_inline.pb.gz"));
  EXPECT_EQ(Run(three), kOk);
  EXPECT_THAT(backend_.tests_run(), SizeIs(3));
  EXPECT_THAT(output_.str(), HasSubstr("\nAll tests, with "));
  EXPECT_THAT(output_.str(), HasSubstr("ok (kept)"));

  backend_.set_connect_status(absl::UnavailableError("nobody there"));
  EXPECT_EQ(Run(three), kOk);

  std::vector<std::string> dry = three;
  dry.push_back("--dry_run");
  EXPECT_EQ(Run(dry), kOk);
  EXPECT_THAT(output_.str(), HasSubstr("has a result, which is kept"));
  EXPECT_THAT(output_.str(), HasSubstr("at most 0 of traffic"));
}

TEST_F(AppTest, OneTestNeedsNoTable) {
  EXPECT_EQ(Run({"-o", directory_, "-s", "host:1", "clique"}), kOk);
  EXPECT_EQ(output_.str(), "Test summary:\nRPC latency summary:\n  rpc\n");
}

TEST_F(AppTest, SaysSoIfThereIsNoSequencer) {
  backend_.set_connect_status(absl::UnavailableError("nobody there"));
  EXPECT_EQ(Run({"-o", directory_, "-s", "host:1", "clique"}), kUsage);
  EXPECT_THAT(messages_.str(), HasSubstr("nobody there"));
}

TEST_F(AppTest, AFailedTestIsAFailure) {
  backend_.SetBody("tripartite_1x1x10-grpc_polling_inline",
                   [](const TestBackend::EventObserver&, TestSequenceResults&) {
                     return absl::AbortedError("node lost");
                   });
  EXPECT_EQ(
      Run({"-o", directory_, "-s", "host:1", "tripartite:client_count=1,2"}),
      kRunFailed);
  EXPECT_THAT(output_.str(), HasSubstr("failed"));
  EXPECT_THAT(backend_.tests_run(), SizeIs(2));
}

TEST_F(AppTest, FalseNumbersAreAFailure) {
  backend_.SetBody(
      "tripartite_1x1x10-grpc_polling_inline",
      [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        TestResult result = FakeResult("t", "rpc", 1, 1);
        result.mutable_run_info()->add_findings()->set_severity(
            Finding::INVALID);
        *results.add_test_results() = result;
        return absl::OkStatus();
      });
  const std::vector<std::string> arguments = {"-o", directory_, "-s", "host:1",
                                              "tripartite"};
  EXPECT_EQ(Run(arguments), kRunFailed);
  EXPECT_FALSE(Exists("tripartite_1x1x10-grpc_polling_inline.pb.gz"));
  EXPECT_EQ(Run(arguments), kRunFailed);
  EXPECT_THAT(backend_.tests_run(), SizeIs(2)) << "runs again";

  std::vector<std::string> allowing = arguments;
  allowing.push_back("--allow_invalid");
  EXPECT_EQ(Run(allowing), kOk);
  EXPECT_TRUE(Exists("tripartite_1x1x10-grpc_polling_inline.pb.gz"));
  EXPECT_EQ(Run(allowing), kOk);
  EXPECT_THAT(backend_.tests_run(), SizeIs(3)) << "is kept";
}

TEST_F(AppTest, JudgesObjectives) {
  backend_.SetBody(
      "tripartite_1x1x10-grpc_polling_inline",
      [](const TestBackend::EventObserver&, TestSequenceResults& results) {
        *results.add_test_results() =
            FakeResult("t", "client_index_rpc", 1000, 5000);
        return absl::OkStatus();
      });
  const auto run_with = [&](const std::string& objective) {
    return Run(
        {"-o", directory_, "-s", "host:1", "tripartite", "--slo=" + objective});
  };
  EXPECT_EQ(run_with("client_index_rpc p50"), kUsage);
  EXPECT_THAT(messages_.str(), HasSubstr("has neither <= nor >="));
  EXPECT_THAT(backend_.tests_run(), IsEmpty());

  EXPECT_EQ(run_with("client_index_rpc p50<=1ms"), kOk);
  EXPECT_THAT(output_.str(), HasSubstr("Objectives:\npass       t  "));

  // A result that is kept is judged again.
  EXPECT_EQ(run_with("client_index_rpc p50<=1us"), kGateNotMet);
  EXPECT_THAT(output_.str(), HasSubstr("Objectives:\nFAIL       t  "));
  EXPECT_THAT(backend_.tests_run(), SizeIs(1));
}

TEST_F(AppTest, AResultOfAnotherConfigIsNoResultOfThisOne) {
  const auto run_for = [&](const std::string& seconds) {
    return Run({"-o", directory_, "-s", "host:1", "-t", seconds, "tripartite"});
  };
  EXPECT_EQ(run_for("10"), kOk);
  EXPECT_EQ(run_for("20"), kUsage);
  EXPECT_THAT(messages_.str(),
              AllOf(HasSubstr("inline.config differs from the requested"),
                    HasSubstr("another directory or a label (-l)")));
  EXPECT_EQ(run_for("10"), kOk);
  EXPECT_THAT(backend_.tests_run(), SizeIs(1));
}

TEST_F(AppTest, KeepsTheConfigOfAResult) {
  EXPECT_EQ(Run({"-o", directory_, "-s", "host:1", "tripartite"}), kOk);
  EXPECT_EQ(Run({"-o", directory_, "-t", "5", "tripartite"}), kOk);
  EXPECT_THAT(messages_.str(), HasSubstr("is kept, because it has a result"));
  const auto config = config::LoadTestSequence(
      directory_ + "/tripartite_1x1x10-grpc_polling_inline.config");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->tests(0).attributes().at("test_duration"), "30");
}

}  // namespace
}  // namespace distbench::test_builder
