// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/execution/sequence.h"

#include <filesystem>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/kinds/values.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A kind whose runs do what the test says.
class FakeKind final : public JobKind {
 public:
  explicit FakeKind(std::string kind, bool starts_anew = true)
      : starts_anew_(starts_anew) {
    declaration_.kind = std::move(kind);
    declaration_.properties = {{"n", PropertyType::kCount, "A number"},
                               {"x", PropertyType::kText, "A text"}};
  }

  const JobDeclaration& declaration() const override { return declaration_; }

  absl::StatusOr<TestSequence> Prepare(const PropertyValues& values,
                                       const JobEnvironment&) const override {
    if (values.Text("x") == "wrong") {
      return absl::InvalidArgumentError("x is wrong");
    }
    TestSequence tests;
    tests.add_tests()->set_name(test_name_);
    return tests;
  }

  bool StartsAnew() const override { return starts_anew_; }

  absl::Status Run(const JobRun& run) const override {
    runs_.push_back(JobTitle(run.spec.kind, run.spec.id) + "#" +
                    std::to_string(run.job.repetition()));
    earlier_.clear();
    for (const BenchJob* job : run.earlier) {
      earlier_.push_back(JobTitle(job->kind(), job->id()));
    }
    run.job.mutable_results()->add_test_results();
    if (absl::Status saved = run.save(); !saved.ok()) return saved;
    return on_run_ ? on_run_(run) : absl::OkStatus();
  }

  absl::Status Study(BenchJob& job) const override {
    job.clear_outcome();
    AddNumber("records", job.results().test_results_size(),
              *job.mutable_outcome());
    job.set_exit_code(exit_code_);
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob&) const override { return ""; }

  JobDeclaration declaration_;
  const bool starts_anew_;
  std::string test_name_ = "t";
  int exit_code_ = 0;
  std::function<absl::Status(const JobRun&)> on_run_;
  mutable std::vector<std::string> runs_;
  mutable std::vector<std::string> earlier_;
};

class SequenceTest : public ::testing::Test {
 protected:
  SequenceTest() {
    path_ = ::testing::TempDir() + "/sequence_test.pb";
    std::filesystem::remove(path_);
    environment_.cancellation = &cancellation_;
    options_.kinds = kinds_;
    options_.clock = &clock_;
    options_.observe = [this](const BenchJob& job, bool was_done) {
      if (was_done) skipped_.push_back(JobTitle(job.kind(), job.id()));
    };
  }

  JobSpec Spec(const std::string& kind, const std::string& id = "") {
    JobSpec spec;
    spec.kind = kind;
    spec.id = id;
    return spec;
  }

  // Plans and runs, as one start of the program does.
  absl::StatusOr<int> Start(std::vector<JobSpec> specs) {
    skipped_.clear();
    const auto file = OpenBenchFile::Open(path_);
    if (!file.ok()) return file.status();
    absl::StatusOr<Sequence> sequence =
        Sequence::Plan(std::move(specs), environment_, options_, **file);
    if (!sequence.ok()) return sequence.status();
    return sequence->Run();
  }

  BenchJob Saved(int index) {
    const auto file = ReadBenchFile(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    EXPECT_GT(file->jobs_size(), index);
    return file->jobs(index);
  }

  std::string path_;
  FakeKind a_{"a"};
  FakeKind resumable_{"resumable", /*starts_anew=*/false};
  const JobKind* kinds_[2] = {&a_, &resumable_};
  Cancellation cancellation_;
  base::FakeClock clock_;
  JobEnvironment environment_;
  SequenceOptions options_;
  std::vector<std::string> skipped_;
};

TEST_F(SequenceTest, RunsJobsInOrderAndKeepsTheirResults) {
  JobSpec twice = Spec("a", "x");
  twice.repeat = 2;
  ASSERT_EQ(*Start({twice, Spec("a", "y")}), 0);
  EXPECT_THAT(a_.runs_, ElementsAre("a \"x\"#0", "a \"x\"#1", "a \"y\"#0"));
  EXPECT_EQ(Saved(1).state(), BenchJob::DONE);
  EXPECT_EQ(Saved(1).repetition(), 1);
  EXPECT_EQ(Saved(2).id(), "y");
  EXPECT_EQ(Saved(2).start_timestamp_ns(), clock_.UnixNs());
}

TEST_F(SequenceTest, ADoneJobIsSkipped) {
  ASSERT_EQ(*Start({Spec("a", "x")}), 0);
  a_.exit_code_ = 2;
  ASSERT_EQ(*Start({Spec("a", "x"), Spec("a", "y")}), 2);
  EXPECT_THAT(a_.runs_, ElementsAre("a \"x\"#0", "a \"y\"#0"));
  EXPECT_THAT(skipped_, ElementsAre("a \"x\""));
  // A skipped job counts for the exit status, too.
  a_.exit_code_ = 0;
  EXPECT_EQ(*Start({Spec("a", "x"), Spec("a", "y")}), 2);
}

TEST_F(SequenceTest, OtherPropertiesMakeAnotherJob) {
  ASSERT_EQ(*Start({Spec("a")}), 0);
  JobSpec other = Spec("a");
  other.properties["n"] = "2";
  ASSERT_EQ(*Start({other}), 0);
  JobSpec passive = Spec("a");
  passive.passive = {"io"};
  ASSERT_EQ(*Start({passive}), 0);
  EXPECT_EQ(a_.runs_.size(), 3u);
}

TEST_F(SequenceTest, AJobThatWasCutShortRunsAgainFromTheStart) {
  a_.on_run_ = [](const JobRun&) { return absl::CancelledError("stopped"); };
  EXPECT_EQ(*Start({Spec("a", "x"), Spec("a", "y")}), 3);
  EXPECT_EQ(a_.runs_.size(), 1u);  // the rest did not run
  EXPECT_EQ(Saved(0).state(), BenchJob::CUT_SHORT);
  EXPECT_EQ(Saved(0).error(), "stopped");
  EXPECT_EQ(Saved(0).results().test_results_size(), 1);
  a_.on_run_ = {};
  EXPECT_EQ(*Start({Spec("a", "x"), Spec("a", "y")}), 0);
  EXPECT_EQ(Saved(0).state(), BenchJob::DONE);
  EXPECT_EQ(Saved(0).results().test_results_size(), 1);
  EXPECT_FALSE(Saved(0).has_error());
}

TEST_F(SequenceTest, AResumableJobKeepsWhatItHad) {
  resumable_.on_run_ = [](const JobRun&) {
    return absl::UnavailableError("the sequencer is gone");
  };
  EXPECT_EQ(*Start({Spec("resumable")}), 3);
  const int64_t first_start_ns = Saved(0).start_timestamp_ns();
  clock_.Advance(1000);
  resumable_.on_run_ = {};
  EXPECT_EQ(*Start({Spec("resumable")}), 0);
  EXPECT_EQ(Saved(0).results().test_results_size(), 2);
  EXPECT_EQ(Saved(0).start_timestamp_ns(), first_start_ns);
}

// As when the file was copied, or --test_sequencer is left out: the kind gets
// the records, and refuses them.
TEST_F(SequenceTest, WhatWasMeasuredOnAnotherHostIsKept) {
  resumable_.on_run_ = [](const JobRun& run) {
    run.job.mutable_systems(0)->set_hostname("elsewhere");
    return absl::CancelledError("stopped");
  };
  EXPECT_EQ(*Start({Spec("resumable")}), 3);
  resumable_.on_run_ = [](const JobRun&) {
    return absl::FailedPreconditionError("it was on hosts elsewhere");
  };
  EXPECT_EQ(*Start({Spec("resumable")}), 3);
  EXPECT_EQ(Saved(0).state(), BenchJob::FAILED);
  EXPECT_EQ(Saved(0).results().test_results_size(), 2);
  ASSERT_EQ(Saved(0).systems_size(), 1);
  EXPECT_EQ(Saved(0).systems(0).hostname(), "elsewhere");
}

// Neither does a job continue from measurements of another test, nor are these
// dropped.
TEST_F(SequenceTest, ChangedTestsOfAResumableJobAreRefused) {
  resumable_.on_run_ = [](const JobRun&) {
    return absl::CancelledError("stopped");
  };
  EXPECT_EQ(*Start({Spec("resumable")}), 3);
  resumable_.on_run_ = {};
  resumable_.test_name_ = "changed";
  EXPECT_THAT(base::Message(Start({Spec("resumable")}).status()),
              AllOf(HasSubstr("its tests have changed since"),
                    HasSubstr("\"t\" -> \"changed\"")));
  EXPECT_EQ(Saved(0).results().test_results_size(), 1);
}

TEST_F(SequenceTest, ADoneJobWithOtherTestsIsAnError) {
  ASSERT_EQ(*Start({Spec("a")}), 0);
  a_.test_name_ = "changed";
  EXPECT_THAT(base::Message(Start({Spec("a")}).status()),
              HasSubstr("its tests have changed since"));
}

// What a killed program leaves: the job as it was last saved.
TEST_F(SequenceTest, ARunningJobIsInTheFileAsCutShort) {
  a_.on_run_ = [&](const JobRun&) {
    const auto file = ReadBenchFile(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->jobs(0).state(), BenchJob::CUT_SHORT);
    EXPECT_EQ(file->jobs(0).results().test_results_size(), 1);
    return absl::OkStatus();
  };
  EXPECT_EQ(*Start({Spec("a")}), 0);
}

TEST_F(SequenceTest, AFailedJobEndsTheSequenceUnlessItMayNot) {
  a_.on_run_ = [](const JobRun& run) {
    return run.spec.id == "x" ? absl::AbortedError("broken") : absl::OkStatus();
  };
  EXPECT_EQ(*Start({Spec("a", "x"), Spec("a", "y")}), 3);
  EXPECT_EQ(a_.runs_.size(), 1u);
  EXPECT_EQ(Saved(0).state(), BenchJob::FAILED);
  JobSpec lenient = Spec("a", "x");
  lenient.keep_going = true;
  EXPECT_EQ(*Start({lenient, Spec("a", "y")}), 3);
  EXPECT_THAT(a_.runs_, ElementsAre("a \"x\"#0", "a \"x\"#0", "a \"y\"#0"));
}

TEST_F(SequenceTest, EarlierJobsAreGivenTheNearestFirst) {
  ASSERT_EQ(*Start({Spec("a", "old"), Spec("a", "later")}), 0);
  ASSERT_EQ(*Start({Spec("a", "1"), Spec("a", "2"), Spec("a", "3"),
                    Spec("a", "later")}),
            0);
  EXPECT_THAT(a_.earlier_, ElementsAre("a \"2\"", "a \"1\"", "a \"old\""));
}

TEST_F(SequenceTest, WrongJobsAreNamedBeforeAnyRuns) {
  JobSpec wrong = Spec("a", "y");
  wrong.properties["x"] = "wrong";
  EXPECT_THAT(base::Message(Start({Spec("a", "x"), wrong}).status()),
              HasSubstr("job a:id=y,x=wrong: x is wrong"));
  EXPECT_THAT(base::Message(Start({Spec("a"), Spec("a")}).status()),
              HasSubstr("is given twice"));
  EXPECT_THAT(a_.runs_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SequenceTest, AfterACancellationNoJobBegins) {
  a_.on_run_ = [this](const JobRun&) {
    cancellation_.Cancel();
    return absl::OkStatus();
  };
  const absl::Status end = Start({Spec("a", "x"), Spec("a", "y")}).status();
  EXPECT_TRUE(absl::IsCancelled(end)) << end;
  EXPECT_EQ(Saved(0).state(), BenchJob::DONE);
  EXPECT_EQ(a_.runs_.size(), 1u);
}

TEST_F(SequenceTest, ACancellationThatCutsAJobShortEndsTheSequence) {
  a_.on_run_ = [this](const JobRun&) {
    cancellation_.Cancel();
    return absl::CancelledError("stopped");
  };
  const absl::Status end = Start({Spec("a")}).status();
  EXPECT_TRUE(absl::IsCancelled(end)) << end;
  EXPECT_EQ(Saved(0).state(), BenchJob::CUT_SHORT);
}

TEST_F(SequenceTest, ACancellationAfterTheLastJobChangesNothing) {
  a_.on_run_ = [this](const JobRun&) {
    cancellation_.Cancel();
    return absl::OkStatus();
  };
  const absl::StatusOr<int> exit_code = Start({Spec("a")});
  ASSERT_TRUE(exit_code.ok()) << exit_code.status();
  EXPECT_EQ(*exit_code, 0);
}

TEST_F(SequenceTest, AFileThatCannotBeSavedEndsTheSequence) {
  const std::string folder = ::testing::TempDir() + "/sequence_test_folder";
  std::filesystem::create_directories(folder);
  path_ = folder + "/x.pb";
  a_.on_run_ = [&](const JobRun& run) {
    std::filesystem::remove_all(folder);
    return run.save();
  };
  EXPECT_THAT(base::Message(Start({Spec("a", "x"), Spec("a", "y")}).status()),
              HasSubstr(path_));
  EXPECT_EQ(a_.runs_.size(), 1u);
}

}  // namespace
}  // namespace distbench::bench
