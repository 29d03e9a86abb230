// The body of `distbench bench run`.

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/cli/own_program.h"
#include "distbench/client/progress_display.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/bench/command.h"
#include "distbench/products/bench/execution/sequence.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/jobs/named_jobs.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/reports/job_text.h"
#include "distbench/report/findings/verdict.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

namespace {

// Progress on stderr: a line of the test that runs, and lines that stay.
class Progress {
 public:
  explicit Progress(bool quiet)
      : quiet_(quiet), display_(client::StderrProgress(1, quiet)) {}

  void Say(const std::string& line) {
    if (!quiet_) Warn(line);
  }
  // Also if quiet.
  void Warn(const std::string& line) {
    display_.Clear();
    std::cerr << line << std::endl;
  }
  void Show(const RunTestsEvent& event) { display_.Show(event); }

 private:
  const bool quiet_;
  client::ProgressDisplay display_;
};

// The jobs that the user gave, or those that a named job stands for.
absl::StatusOr<std::vector<std::string>> JobTexts(const BenchFlags& flags) {
  if (flags.jobs.empty()) {
    if (flags.variables.empty()) return flags.arguments;
    return absl::InvalidArgumentError(
        "-i gives variables of named jobs; name their file with -f");
  }
  if (flags.arguments.size() != 1) {
    return absl::InvalidArgumentError(
        "with -f, give the name of exactly one job; see distbench bench -f " +
        flags.jobs + " list");
  }
  const absl::StatusOr<std::string> yaml = base::ReadFile(flags.jobs);
  if (!yaml.ok()) return yaml.status();
  const absl::StatusOr<std::vector<NamedJob>> jobs =
      ParseNamedJobs(*yaml, flags.jobs);
  if (!jobs.ok()) return jobs.status();
  const absl::StatusOr<NamedJob> job = FindNamedJob(*jobs, flags.arguments[0]);
  if (!job.ok()) return job.status();
  const auto values = ParseVariableValues(flags.variables);
  if (!values.ok()) return values.status();
  const std::string folder =
      std::filesystem::path(flags.jobs).parent_path().string();
  return ArgsOf(*job, *values, folder.empty() ? "." : folder);
}

absl::StatusOr<std::vector<JobSpec>> ParseJobs(const BenchFlags& flags) {
  const absl::StatusOr<std::vector<std::string>> texts = JobTexts(flags);
  if (!texts.ok()) return texts.status();
  const std::vector<JobDeclaration> declarations = JobDeclarations();
  std::vector<JobSpec> specs;
  std::vector<std::string> problems;
  for (const std::string& text : *texts) {
    absl::StatusOr<JobSpec> spec = ParseJobSpec(text, declarations);
    if (spec.ok()) {
      specs.push_back(*std::move(spec));
    } else {
      problems.emplace_back(spec.status().message());
    }
  }
  if (problems.empty()) return specs;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

// A named job has a result file of its own unless -r names one.
absl::StatusOr<std::string> ResultPath(const BenchFlags& flags) {
  if (!flags.result.empty()) return flags.result;
  if (!flags.jobs.empty()) return flags.arguments[0] + ".pb.gz";
  return absl::InvalidArgumentError(
      "name the result file: distbench bench -r FILE run ...");
}

// Results of jobs keep their tests as they are, to go on with them.
absl::StatusOr<TestSequence> LoadTestsOfJob(const std::string& infile) {
  absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(infile);
  if (!tests.ok()) return tests;
  for (const DistributedSystemDescription& test : tests->tests()) {
    if (absl::c_none_of(test.rpc_descriptions(), config::CallsOutside)) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        infile,
        " calls external services, whose metadata and rows may be "
        "secret, and results of jobs would keep them; run it with distbench "
        "run_tests, search or protection"));
  }
  return tests;
}

JobEnvironment EnvironmentOf(const BenchFlags& flags, std::string program,
                             Progress& progress, Cancellation& cancellation) {
  JobEnvironment environment;
  environment.load_tests = LoadTestsOfJob;
  environment.build_test = [](const std::string& pattern) {
    return cli::LoadOneTest(pattern, /*infile=*/"");
  };
  environment.test_sequencer = flags.test_sequencer;
  environment.tls = flags.tls;
  environment.program = std::move(program);
  environment.say = [&](const std::string& line) { progress.Say(line); };
  environment.progress = [&](const RunTestsEvent& event) {
    progress.Show(event);
  };
  environment.cancellation = &cancellation;
  return environment;
}

void Announce(const BenchJob& job, int number, int count, Progress& progress) {
  progress.Say(absl::StrCat("Job ", number, " of ", count, ": ",
                            JobTitle(job.kind(), job.id())));
}

void Observe(const BenchJob& job, bool was_done, Progress& progress) {
  if (was_done) {
    progress.Say(absl::StrCat(JobTitle(job.kind(), job.id()),
                              " is done already; skipped"));
    return;
  }
  for (const std::string& missed : job.missed_requirements()) {
    progress.Warn(absl::StrCat("warning: missed requirement: ", missed));
  }
  std::cout << JobText(job, absl::LocalTimeZone()) << std::endl;
}

absl::StatusOr<int> Run(const BenchFlags& flags, std::vector<JobSpec> specs,
                        OpenBenchFile& file, base::StopSignals& stop) {
  absl::StatusOr<std::string> program = cli::OwnProgram();
  if (!program.ok()) return program.status();
  Progress progress(flags.quiet);
  Cancellation cancellation;
  const JobEnvironment environment =
      EnvironmentOf(flags, *std::move(program), progress, cancellation);
  SequenceOptions options;
  options.announce = [&](const BenchJob& job, int number, int count) {
    Announce(job, number, count, progress);
  };
  options.observe = [&](const BenchJob& job, bool was_done) {
    Observe(job, was_done, progress);
  };
  absl::StatusOr<Sequence> sequence =
      Sequence::Plan(std::move(specs), environment, options, file);
  if (!sequence.ok()) return sequence.status();
  stop.SetHandler([&] { cancellation.Cancel(); });
  const absl::StatusOr<int> exit_code = sequence->Run();
  stop.SetHandler({});
  if (!exit_code.ok())
    return cli::Fail(exit_code.status(), report::kExitRunFailed);
  if (cancellation.is_cancelled()) {
    return cli::Fail("cancelled; the same command continues the sequence",
                     report::kExitRunFailed);
  }
  return *exit_code;
}

}  // namespace

absl::StatusOr<int> RunBench(const BenchFlags& flags, base::StopSignals& stop) {
  absl::StatusOr<std::vector<JobSpec>> specs = ParseJobs(flags);
  if (!specs.ok()) return specs.status();
  const absl::StatusOr<std::string> path = ResultPath(flags);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::unique_ptr<OpenBenchFile>> file =
      OpenBenchFile::Open(*path);
  if (!file.ok()) return file.status();
  if (flags.result.empty() && !flags.quiet) {
    std::cerr << "Results: " << *path << std::endl;
  }
  return Run(flags, *std::move(specs), **file, stop);
}

}  // namespace distbench::bench
