// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/comparison_flags.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/products/ab_test/alternation.h"
#include "distbench/products/ab_test/noise_table.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/file_lock.h"
#include "distbench/results/result_file.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::ab_test {
namespace {

using cli::Command;
using cli::HelpSection;

// `distbench ab_test`.

constexpr int kMaxRounds = 1000;

struct AbFlags {
  std::string base_sequencer;
  std::string next_sequencer;
  security::TlsFiles tls;
  std::string base;
  std::string next;
  std::string outdir;
  int repeat = 20;
  bool until_decided = false;
  bool no_samples = false;
  bool allow_invalid = false;
  std::string label;
  bool quiet = false;
  cli::ComparisonFlags comparison;
};

// One side of the test.
struct Side {
  TestSequence tests;
  std::unique_ptr<client::TestClient> client = nullptr;  // see Connect()
};

absl::Status CheckFlagsTogether(const AbFlags& flags) {
  if (flags.base == "-" && flags.next == "-") {
    return absl::InvalidArgumentError(
        "--base and --new cannot both be standard input");
  }
  if (!flags.until_decided) return absl::OkStatus();
  if (flags.comparison.fail_if.empty()) {
    return absl::InvalidArgumentError(
        "--until_decided needs a condition to decide, such as "
        "--fail_if='p99>5%'");
  }
  if (flags.repeat < report::kFirstLook || flags.repeat > stats::kMaxLooks) {
    return absl::InvalidArgumentError(
        absl::StrCat("--repeat=", flags.repeat,
                     " is the most repetitions of --until_decided, which must "
                     "be from ",
                     report::kFirstLook, " to ", stats::kMaxLooks));
  }
  return absl::OkStatus();
}

// What is written into --outdir.
constexpr char kBaseFile[] = "base.pb.gz";
constexpr char kNextFile[] = "new.pb.gz";
constexpr char kLeftOutFile[] = "left_out.pb.gz";

// A directory is for one test: results of an earlier one would be replaced or,
// where this one has none, be taken for its own. While the lock lives, no other
// test takes the directory.
absl::StatusOr<std::unique_ptr<results::FileLock>> MakeOutdir(
    const std::string& outdir) {
  std::error_code error;
  std::filesystem::create_directories(outdir, error);
  if (error) {
    return absl::UnknownError(absl::StrCat(
        "cannot make the directory --outdir=", outdir, ": ", error.message()));
  }
  absl::StatusOr<std::unique_ptr<results::FileLock>> lock =
      results::FileLock::Take(std::filesystem::path(outdir) / kBaseFile);
  if (!lock.ok()) return lock;
  for (const char* file : {kBaseFile, kNextFile, kLeftOutFile}) {
    if (!std::filesystem::exists(std::filesystem::path(outdir) / file, error)) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "--outdir=", outdir, " holds ", file,
        ", the result of an earlier test; name another directory, or remove ",
        kBaseFile, ", ", kNextFile, " and ", kLeftOutFile, " from it"));
  }
  return lock;
}

absl::StatusOr<Side> LoadSide(const std::string& infile, const AbFlags& flags) {
  absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(infile);
  if (!tests.ok()) return tests.status();
  if (flags.no_samples) {
    for (DistributedSystemDescription& test : *tests->mutable_tests()) {
      test.set_sample_memory_bytes(0);
    }
  }
  return Side{.tests = *std::move(tests)};
}

// Conditions on an RPC that neither side has would be found out by all rounds.
absl::Status CheckRpcsOf(const cli::ComparisonRequest& request,
                         const Side& base, const Side& next) {
  std::vector<const DistributedSystemDescription*> tests;
  for (const Side* side : {&base, &next}) {
    for (const DistributedSystemDescription& test : side->tests.tests()) {
      tests.push_back(&test);
    }
  }
  return report::CheckRpcsOf(request.gates, tests);
}

absl::Status Connect(const std::string& sequencer, const AbFlags& flags,
                     Side& side) {
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(sequencer, flags.tls);
  if (!client.ok()) return client.status();
  side.client = *std::move(client);
  return absl::OkStatus();
}

absl::Status RunSide(Side& side, absl::string_view name, const AbFlags& flags,
                     TestSequenceResults& results) {
  if (!flags.quiet) std::cerr << name << ":" << std::endl;
  RunTestsRequest request;
  *request.mutable_test_sequence() = side.tests;
  request.set_label(flags.label);
  client::ProgressDisplay display(
      client::StderrProgress(side.tests.tests_size(), flags.quiet));
  return side.client->RunTests(
      request, [&](const RunTestsEvent& event) { display.Show(event); },
      results);
}

absl::Status WriteIfAny(const TestSequenceResults& results,
                        const std::string& path) {
  return results.test_results().empty()
             ? absl::OkStatus()
             : results::WriteResults(results, path,
                                     results::ResultEncoding::kBinary);
}

// Rewrites the files with all that was measured so far.
absl::Status Save(const AbTestResults& results, const std::string& outdir) {
  const std::filesystem::path folder(outdir);
  absl::Status status = WriteIfAny(results.base.results, folder / kBaseFile);
  status.Update(WriteIfAny(results.next.results, folder / kNextFile));
  status.Update(WriteIfAny(results.left_out, folder / kLeftOutFile));
  return status;
}

void ShowRound(const AbTestResults& results, int rounds) {
  std::cerr << absl::StreamFormat("%d of %d rounds\n", results.rounds, rounds)
            << report::ChecksText(results.checks) << std::flush;
}

// The ExitCode of a test that ended with this error.
int ExitCodeOf(const absl::Status& error, const AbTestResults& results) {
  return cli::ExitCodeOfFailure(
      error, results.rounds > 0 || !results.left_out.test_results().empty());
}

std::vector<report::TestRun> RunsOf(const report::SourcedResults& results) {
  return report::ListRuns(absl::MakeConstSpan(&results, 1));
}

absl::StatusOr<int> Finish(const absl::Status& status,
                           const AbTestResults& results, const AbFlags& flags) {
  if (!status.ok() && ExitCodeOf(status, results) == report::kExitUsage) {
    return status;
  }
  int exit_code = cli::FinishComparison(
      {.base = {"base", RunsOf(results.base)},
       .next = {"new", RunsOf(results.next)},
       .tests = results.comparisons,
       .checks = results.checks,
       .allow_undecided = flags.comparison.checks.allow_undecided},
      flags.comparison);
  for (const std::string& reason : results.left_out_reasons) {
    exit_code = cli::Fail(
        reason, flags.allow_invalid ? exit_code : int{report::kExitRunFailed});
  }
  return status.ok() ? exit_code
                     : cli::Fail(status, ExitCodeOf(status, results));
}

absl::StatusOr<int> RunOnSides(const cli::ComparisonRequest& request,
                               Side& base, Side& next, const AbFlags& flags,
                               base::StopSignals& stop) {
  const AbTestOptions options = {.gates = request.gates,
                                 .comparison = request.options,
                                 .rounds = flags.repeat,
                                 .until_decided = flags.until_decided};
  stop.SetHandler([&] {
    base.client->Cancel();
    next.client->Cancel();
  });
  AbTestResults results;
  const absl::Status status = RunAbTest(
      options,
      [&](AbSide side, TestSequenceResults& measured) {
        return RunSide(side == AbSide::kBase ? base : next, NameOf(side), flags,
                       measured);
      },
      [&](const AbTestResults& so_far) {
        if (!flags.quiet) ShowRound(so_far, flags.repeat);
        return Save(so_far, flags.outdir);
      },
      results);
  stop.SetHandler({});
  return Finish(status, results, flags);
}

absl::StatusOr<int> AbTest(AbFlags flags, base::StopSignals& stop) {
  if (flags.next_sequencer.empty()) flags.next_sequencer = flags.base_sequencer;
  const absl::Status checked = CheckFlagsTogether(flags);
  if (!checked.ok()) return checked;
  const absl::StatusOr<cli::ComparisonRequest> request =
      cli::ReadComparisonFlags(flags.comparison);
  if (!request.ok()) return request.status();
  absl::StatusOr<Side> base = LoadSide(flags.base, flags);
  if (!base.ok()) return base.status();
  absl::StatusOr<Side> next = LoadSide(flags.next, flags);
  if (!next.ok()) return next.status();
  absl::Status status = CheckRpcsOf(*request, *base, *next);
  if (!status.ok()) return status;
  const auto lock = MakeOutdir(flags.outdir);
  if (!lock.ok()) return lock.status();
  status = Connect(flags.base_sequencer, flags, *base);
  if (status.ok()) status = Connect(flags.next_sequencer, flags, *next);
  if (!status.ok()) return status;
  return RunOnSides(*request, *base, *next, flags, stop);
}

void AddInputFlags(CLI::App& command, AbFlags& flags) {
  cli::AddTestSequencerFlag(command, flags.base_sequencer);
  cli::AddTextFlag(command, "--new_sequencer", flags.next_sequencer,
                   "HOST:PORT", "Where new runs, if on another cluster");
  cli::AddTlsFlags(command, flags.tls);
  cli::AddTextFlag(command, "--base", flags.base, "FILE", "The tests of base");
  cli::AddTextFlag(command, "--new", flags.next, "FILE",
                   "The tests of new; the same file for an A/A test");
  cli::AddTextFlag(command, "--outdir", flags.outdir, "DIR",
                   "Write base.pb.gz, new.pb.gz and, if runs failed,\n"
                   "left_out.pb.gz here, after each round. It must not have\n"
                   "those of an earlier test");
  for (const char* required : {"--base", "--new", "--outdir"}) {
    cli::Require(command, required);
  }
}

void AddRepetitionFlags(CLI::App& command, AbFlags& flags) {
  cli::AddNumberFlag(command, "--repeat", flags.repeat, 1, kMaxRounds, "N",
                     "Run base and new this often or, with --until_decided,\n"
                     "at most this often");
  cli::AddSwitch(command, "--until_decided", flags.until_decided,
                 "End as soon as each --fail_if passes, or one fails");
  cli::AddSwitch(command, "--no_samples", flags.no_samples,
                 "Keep no samples of single RPCs");
  cli::AddSwitch(command, "--allow_invalid", flags.allow_invalid,
                 "Do not exit 3 because rounds were left out");
  cli::AddTextFlag(command, "--label", flags.label, "TEXT",
                   "Text kept with the runs, shown by distbench runs list");
  cli::AddQuietFlag(command, flags.quiet);
}

void AddAbTestCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "ab_test", "Runs two tests in turn and compares them");
  auto flags = std::make_shared<AbFlags>();
  AddInputFlags(command, *flags);
  AddRepetitionFlags(command, *flags);
  cli::AddComparisonFlags(command, flags->comparison);
  cli::SetFooter(
      command,
      "Each round runs base and new once, in alternating order. With\n"
      "--until_decided, the bounds of the conditions are wider, so that\n"
      "looking after each round does not make a pass more likely; see\n"
      "docs/reports.md. A round with a failed run is repeated and named at\n"
      "the end, and the exit status is 3. SIGINT or SIGTERM ends the test and\n"
      "keeps what was measured.\n\n"
      "Example:\n"
      "  distbench ab_test --test_sequencer=host1:10000 --base=base.config \\\n"
      "      --new=new.config --outdir=results --fail_if='p99>5%' \\\n"
      "      --until_decided --repeat=30");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return AbTest(*flags, stop);
  });
}

absl::StatusOr<int> ShowNoiseFloor(const std::vector<std::string>& paths) {
  const absl::StatusOr<std::vector<report::SourcedResults>> results =
      cli::ReadResultFiles(paths);
  if (!results.ok()) return results.status();
  std::map<std::string, std::vector<report::TestRun>> tests;
  for (const report::TestRun& run : report::ListRuns(*results))
    tests[run.name].push_back(run);
  if (tests.empty())
    return absl::InvalidArgumentError("there is no test in the results");
  int exit_code = report::kExitOk;
  for (const auto& [name, runs] : tests) {
    const absl::StatusOr<std::string> table = DescribeNoise(runs);
    if (table.ok()) {
      std::cout << *table;
    } else {
      exit_code = cli::Fail(table.status(), report::kExitRunFailed);
    }
  }
  std::cout << std::flush;
  return exit_code;
}

void AddNoiseFloorCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "noise_floor",
      "Shows how much results differ if nothing has changed");
  auto paths = std::make_shared<std::vector<std::string>>();
  cli::AddArguments(command, "RESULT", *paths, "RESULT",
                    "Repeated runs of a test: files, or directories of them");
  cli::Require(command, "RESULT");
  cli::SetFooter(
      command,
      "For each metric: if so many runs are compared with as many others of\n"
      "the same test, 95 % of these comparisons differ by less. The file can\n"
      "then be given to compare and ab_test as --noise_floor. Exits 3 if\n"
      "there are fewer than three runs, or one of them is not valid.\n\n"
      "Examples:\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --repeat=10 --no_samples \\\n"
      "      --outfile=noise.pb.gz --binary_output\n"
      "  distbench noise_floor noise.pb.gz");
  cli::SetBody(command, chosen, [paths] { return ShowNoiseFloor(*paths); });
}

const base::Plugin<base::Product> kProduct(
    "ab_test", new base::Product{"Compares two versions by alternating runs, "
                                 "and finds the noise floor of runs"});

const base::Plugin<Command> kCommands[] = {
    {"ab_test", new Command{HelpSection::kRuns, AddAbTestCommand}},
    {"noise_floor", new Command{HelpSection::kOutcomes, AddNoiseFloorCommand}},
};

}  // namespace
}  // namespace distbench::ab_test
