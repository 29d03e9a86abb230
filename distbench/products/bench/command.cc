// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/command.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/client/progress_display.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/bench/execution/sequence.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/files/tarball.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/jobs/named_jobs.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/reports/job_reports.h"
#include "distbench/report/findings/findings.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

namespace {

using SharedFlags = std::shared_ptr<BenchFlags>;

constexpr char kRunText[] =
    "Jobs that are done are skipped; one that was cut short is run again.\n"
    "Later jobs use what earlier ones found. SIGINT or SIGTERM keeps what\n"
    "was measured. Exits 2 if an objective was not met, 3 if a job failed.\n"
    "See docs/products/sequences.md.\n\n";
constexpr char kRunExample[] =
    "\nExample:\n"
    "  distbench bench run -r result.pb.gz hashd-params:passive=io \\\n"
    "      protection:id=iocost-off,passive=io iocost-params \\\n"
    "      protection:id=iocost-on";

void AddResultFlag(CLI::App& command, const SharedFlags& flags) {
  cli::AddTextFlag(command, "-r,--result", flags->result, "FILE",
                   "The result file of the jobs, binary; compressed if its\n"
                   "name ends in .gz");
}

void AddJobsFlag(CLI::App& command, const SharedFlags& flags) {
  cli::AddTextFlag(command, "-f,--jobs", flags->jobs, "FILE",
                   "A YAML file of named jobs, such as workloads/jobs.yaml");
}

// The files may be named before the action or after it.
CLI::App& AddAction(CLI::App& bench, const std::string& name,
                    const std::string& description,
                    absl::StatusOr<int> (*action)(const BenchFlags&),
                    const SharedFlags& flags, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(bench, name, description);
  AddResultFlag(command, flags);
  cli::SetBody(command, chosen, [action, flags] { return action(*flags); });
  return command;
}

// One line for each kind, and one for each of its properties.
std::string KindsText() {
  std::string text = "Kinds of jobs and their properties:\n";
  for (const JobDeclaration& declaration : JobDeclarations()) {
    absl::StrAppend(&text, "  ", declaration.kind, "\n      ",
                    declaration.description, "\n");
    for (const JobProperty& property : declaration.properties) {
      absl::StrAppendFormat(
          &text, "      %-14s %s%s\n", property.name, property.description,
          property.default_value.empty()
              ? ""
              : absl::StrCat("; default: ", property.default_value));
    }
  }
  absl::StrAppend(&text, "  all kinds\n");
  for (const JobProperty& property : CommonProperties()) {
    absl::StrAppendFormat(&text, "      %-14s %s\n", property.name,
                          property.description);
  }
  return text;
}

void AddRun(CLI::App& bench, const SharedFlags& flags,
            cli::CommandBody& chosen) {
  CLI::App& command =
      cli::AddSubcommand(bench, "run", "Runs jobs after each other");
  AddResultFlag(command, flags);
  cli::AddArguments(command, "JOB", flags->arguments, "JOB",
                    "Jobs, as KIND:KEY=VALUE,...; with -f, the name of one");
  cli::Require(command, "JOB");
  AddJobsFlag(command, flags);
  cli::AddTextFlag(
      command, "--test_sequencer", flags->test_sequencer, "HOST:PORT",
      "Run tests there; default: on this host, with a sequencer and\n"
      "node managers that are started for each job");
  cli::AddTlsFlags(command, flags->tls);
  cli::AddTextFlag(command, "-i,--variables", flags->variables, "JSON",
                   "With -f: values of variables, such as '{\"qps\": 100}'");
  cli::AddQuietFlag(command, flags->quiet);
  cli::SetFooter(command, absl::StrCat(kRunText, KindsText(), kRunExample));
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return RunBench(*flags, stop);
  });
}

void AddList(CLI::App& bench, const SharedFlags& flags,
             cli::CommandBody& chosen) {
  CLI::App& command = AddAction(
      bench, "list", "Lists the jobs of the result file, or the named jobs",
      ListBench, flags, chosen);
  AddJobsFlag(command, flags);
  cli::SetFooter(command,
                 "Examples:\n"
                 "  distbench bench list -r result.pb.gz\n"
                 "  distbench bench list -f workloads/jobs.yaml");
}

void AddStudy(CLI::App& bench, const SharedFlags& flags,
              cli::CommandBody& chosen) {
  CLI::App& command =
      AddAction(bench, "study", "Computes all results anew from the records",
                StudyBench, flags, chosen);
  cli::SetFooter(
      command,
      "For results of an earlier version of distbench. Exits 3 if a job has\n"
      "no result any more.\n\n"
      "Example:\n  distbench bench study -r result.pb.gz");
}

void AddFormat(CLI::App& bench, const SharedFlags& flags,
               cli::CommandBody& chosen) {
  CLI::App& command =
      AddAction(bench, "format", "Prints jobs with their hosts and results",
                FormatBench, flags, chosen);
  cli::AddArguments(command, "JOB", flags->arguments, "JOB",
                    "Numbers of list, or KIND or KIND:id=ID; default: all");
  cli::SetFooter(
      command,
      "Example:\n"
      "  distbench bench format -r result.pb.gz protection:id=iocost-on");
}

void AddSummary(CLI::App& bench, const SharedFlags& flags,
                cli::CommandBody& chosen) {
  CLI::App& command =
      AddAction(bench, "summary", "Prints each result in a line or two",
                SummariseBench, flags, chosen);
  cli::SetFooter(command,
                 "Example:\n  distbench bench summary -r result.pb.gz");
}

void AddMerge(CLI::App& bench, const SharedFlags& flags,
              cli::CommandBody& chosen) {
  CLI::App& command =
      AddAction(bench, "merge", "Merges result files into a new one",
                MergeBench, flags, chosen);
  cli::AddArguments(command, "FILE", flags->arguments, "FILE",
                    "The files to merge");
  cli::Require(command, "FILE");
  cli::AddSwitch(command, "--force", flags->force,
                 "Merge also jobs that missed requirements");
  cli::SetFooter(
      command,
      "Jobs of equal kind, id, properties and tests, on disks of the same\n"
      "model, become repetitions of one job.\n\n"
      "Example:\n"
      "  distbench bench merge -r merged.pb.gz host1.pb.gz host2.pb.gz");
}

void AddPack(CLI::App& bench, const SharedFlags& flags,
             cli::CommandBody& chosen) {
  CLI::App& command =
      AddAction(bench, "pack", "Packs results, configs and reports for others",
                PackBench, flags, chosen);
  cli::AddOutputFlag(
      command, "--outfile", flags->outfile,
      "The archive; default: the result file's name and .tar.gz");
  cli::SetFooter(command, "Example:\n  distbench bench pack -r result.pb.gz");
}

}  // namespace

void AddBenchCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "bench", "Runs sequences of jobs into one result file");
  cli::AllowOneSubcommand(command);
  auto flags = std::make_shared<BenchFlags>();
  AddResultFlag(command, flags);
  AddJobsFlag(command, flags);
  AddRun(command, flags, chosen);
  AddList(command, flags, chosen);
  AddStudy(command, flags, chosen);
  AddFormat(command, flags, chosen);
  AddSummary(command, flags, chosen);
  AddMerge(command, flags, chosen);
  AddPack(command, flags, chosen);
  cli::SetFooter(
      command,
      "Examples:\n"
      "  distbench bench -r result.pb.gz run run:infile=a.config \\\n"
      "      search:infile=a.config,slo='query p99<=5ms'\n"
      "  distbench bench -r result.pb.gz format\n"
      "  distbench help bench run");
}

std::vector<flags::Candidate> JobCandidates(
    const flags::ValueRequest& request) {
  const std::string& typed = request.typed;
  const std::string kind = typed.substr(0, typed.find(':'));
  std::vector<flags::Candidate> candidates;
  for (const JobDeclaration& declaration : JobDeclarations()) {
    if (kind == typed) {
      candidates.push_back({declaration.kind, declaration.description});
    } else if (declaration.kind == kind) {
      const std::string begin = typed.substr(0, typed.find_last_of(":,") + 1);
      for (const auto* properties :
           {&declaration.properties, &CommonProperties()}) {
        for (const JobProperty& property : *properties) {
          candidates.push_back(
              {absl::StrCat(begin, property.name, "="), property.description});
        }
      }
    }
  }
  return candidates;
}

// The body of `distbench bench run`.

namespace {

// Progress on stderr: a line of the test that runs, and lines that stay.
class Progress {
 public:
  explicit Progress(bool quiet)
      : quiet_(quiet), display_(client::StderrProgress(0, quiet)) {}

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

// The bodies of `distbench bench` that read and write result files.

namespace {

absl::StatusOr<BenchFile> ReadResult(const BenchFlags& flags) {
  if (flags.result.empty()) {
    return absl::InvalidArgumentError(
        "name the result file: distbench bench -r FILE ...");
  }
  return ReadBenchFile(flags.result);
}

absl::StatusOr<int> ListNamedJobs(const std::string& path) {
  const absl::StatusOr<std::string> yaml = base::ReadFile(path);
  if (!yaml.ok()) return yaml.status();
  const absl::StatusOr<std::vector<NamedJob>> jobs =
      ParseNamedJobs(*yaml, path);
  if (!jobs.ok()) return jobs.status();
  std::cout << NamedJobsText(*jobs) << std::flush;
  return report::kExitOk;
}

// "host1" of "results/host1.pb.gz".
std::string NameWithoutSuffix(const std::string& path) {
  absl::string_view name = path;
  absl::ConsumeSuffix(&name, ".gz");
  absl::ConsumeSuffix(&name, ".pb");
  return std::string(name);
}

// The folder in the archive of a result file, within the folder into which it
// is unpacked.
std::string FolderOf(const std::string& result) {
  std::string name =
      NameWithoutSuffix(std::filesystem::path(result).filename().string());
  if (name.empty() || name == "." || name == "..") return "bench";
  return name;
}

}  // namespace

absl::StatusOr<int> ListBench(const BenchFlags& flags) {
  if (flags.result.empty() && !flags.jobs.empty()) {
    return ListNamedJobs(flags.jobs);
  }
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  std::cout << ListText(*file, absl::LocalTimeZone()) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> StudyBench(const BenchFlags& flags) {
  if (const auto exists = ReadResult(flags); !exists.ok()) {
    return exists.status();
  }
  const absl::StatusOr<std::unique_ptr<OpenBenchFile>> file =
      OpenBenchFile::Open(flags.result);
  if (!file.ok()) return file.status();
  const std::vector<std::string> problems = StudyAll((*file)->content());
  const absl::Status saved = (*file)->Save();
  if (!saved.ok()) return cli::Fail(saved, report::kExitRunFailed);
  for (const std::string& problem : problems)
    cli::Fail(problem, report::kExitRunFailed);
  std::cout << SummaryText((*file)->content()) << std::flush;
  return problems.empty() ? report::kExitOk : report::kExitRunFailed;
}

absl::StatusOr<int> FormatBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::vector<const BenchJob*>> jobs =
      SelectJobs(*file, flags.arguments);
  if (!jobs.ok()) return jobs.status();
  bool is_first = true;
  for (const BenchJob* job : *jobs) {
    if (!is_first) std::cout << '\n';
    is_first = false;
    std::cout << JobText(*job, absl::LocalTimeZone());
  }
  std::cout << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> SummariseBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  std::cout << SummaryText(*file) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> MergeBench(const BenchFlags& flags) {
  if (flags.result.empty()) {
    return absl::InvalidArgumentError(
        "name the new file: distbench bench -r FILE merge ...");
  }
  std::error_code ignored;
  if (std::filesystem::exists(flags.result, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.result, " exists already; name a new file with -r"));
  }
  std::vector<SourcedBenchFile> sources;
  for (const std::string& path : flags.arguments) {
    absl::StatusOr<BenchFile> file = ReadBenchFile(path);
    if (!file.ok()) return file.status();
    sources.push_back({path, *std::move(file)});
  }
  const absl::StatusOr<MergedBenchFile> merged =
      MergeBenchFiles(sources, flags.force);
  if (!merged.ok()) return merged.status();
  for (const std::string& sentence : merged->left_out) {
    std::cerr << "Left out: " << sentence << std::endl;
  }
  const absl::Status written = WriteBenchFile(merged->file, flags.result);
  if (!written.ok()) return cli::Fail(written, report::kExitRunFailed);
  std::cout << ListText(merged->file, absl::LocalTimeZone()) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> PackBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  const std::string path =
      flags.outfile.empty()
          ? absl::StrCat(NameWithoutSuffix(flags.result), ".tar.gz")
          : flags.outfile;
  std::error_code ignored;
  if (std::filesystem::equivalent(path, flags.result, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     " is the result file itself; name another file "
                     "with --outfile"));
  }
  const absl::StatusOr<std::vector<PackedFile>> files =
      PackedJobs(*file, FolderOf(flags.result), absl::LocalTimeZone());
  if (!files.ok()) return cli::Fail(files.status(), report::kExitRunFailed);
  const absl::Status written = WriteTarball(*files, path);
  if (!written.ok()) return cli::Fail(written, report::kExitRunFailed);
  std::cout << path << std::endl;
  return report::kExitOk;
}

}  // namespace distbench::bench
