// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/host_check.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/config/validate/check.h"
#include "distbench/flags/completion.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/products/protection/experiment_display.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/protection/impossible_cells.h"
#include "distbench/products/protection/report/protection_text.h"
#include "distbench/products/protection/runner.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_display.h"
#include "distbench/report/findings/findings.h"
#include "distbench/results/result_file.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {
namespace {

using cli::Command;
using cli::HelpSection;

constexpr int kMaxCellRepeat = 1000;

struct ProtectionFlags {
  std::string test_sequencer;
  security::TlsFiles tls;
  std::string infile = "-";
  int repeat = 0;  // the config's
  std::optional<uint64_t> seed;
  std::string resume;
  cli::TestOutputFlags output;
  bool quiet = false;
};

// The file that the results are read from and written to.
const std::string& PathOf(const ProtectionFlags& flags) {
  return flags.resume.empty() ? flags.output.outfile : flags.resume;
}

absl::StatusOr<DistributedSystemDescription> LoadExperiment(
    const ProtectionFlags& flags) {
  absl::StatusOr<DistributedSystemDescription> test =
      cli::LoadOneTest("", flags.infile);
  if (!test.ok()) return test;
  if (!test->has_experiment()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.infile,
                     " has no experiment; add one, as "
                     "docs/products/protection.md shows, or run the test with "
                     "distbench run_tests"));
  }
  if (flags.repeat == 0) return test;
  test->mutable_experiment()->set_repeat(flags.repeat);
  // There may be too many runs now.
  TestSequence tests;
  *tests.add_tests() = *std::move(test);
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(tests));
  if (!checked.ok()) return checked.status();
  return checked->tests(0);
}

// What the results have of an experiment, which took long.
std::string KeptExperiment(const TestSequenceResults& results) {
  if (results.experiments().empty()) return "";
  return absl::StrCat("an experiment with ", results.test_results_size(),
                      " runs");
}

absl::Status CheckSeed(const ProtectionFlags& flags,
                       const TestSequenceResults& results) {
  const std::optional<uint64_t> seed = SeedOf(results);
  if (!seed || !flags.seed || *seed == *flags.seed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--seed=", *flags.seed, " is not that of ", flags.resume,
                   ", ", *seed, "; leave it out"));
}

// The seed of a new experiment.
uint64_t NewSeed(const ProtectionFlags& flags,
                 const DistributedSystemDescription& test) {
  if (flags.seed) return *flags.seed;
  if (test.has_random_seed()) return test.random_seed();
  return std::random_device()();
}

int ExitCodeOf(const TestSequenceResults& results, bool allow_invalid) {
  if (results.experiments().empty()) return report::kExitRunFailed;
  const std::vector<std::string> without_figures = WithoutFigures(results);
  for (const std::string& sentence : without_figures) {
    cli::Fail(sentence, report::kExitRunFailed);
  }
  if (!without_figures.empty()) return report::kExitRunFailed;
  const auto count =
      std::count_if(results.test_results().begin(),
                    results.test_results().end(), IsFalseBaseline);
  if (count == 0) return report::kExitOk;
  const int exit_code =
      allow_invalid ? report::kExitOk : report::kExitRunFailed;
  return cli::Fail(
      absl::StrCat(
          count,
          " runs without an antagonist failed or are invalid; see "
          "their findings with distbench report",
          allow_invalid ? "" : "; --allow_invalid exits 0 nevertheless"),
      exit_code);
}

// Shows runs of cells and probes of the search for the capacity on stderr.
class Display {
 public:
  explicit Display(bool quiet)
      : traffic_(client::StderrProgress(1, quiet)),
        search_(client::StderrProgress(1, quiet)),
        cells_([this, quiet](absl::string_view line) {
          if (quiet) return;
          traffic_.Clear();
          search_.Clear();
          std::cerr << line << std::flush;
        }) {}

  void AddTo(ExperimentCallbacks& callbacks) {
    callbacks.announce = [this](const CellRun& run) { cells_.Announce(run); };
    callbacks.observe = [this](const CellRun& run, CellOutcome outcome,
                               const std::string& evidence) {
      cells_.Observe(run, outcome, evidence);
    };
    callbacks.progress = [this](const RunTestsEvent& event) {
      traffic_.Show(event);
    };
    callbacks.announce_search = [this](const search::SearchPlan& plan) {
      search_.ShowPlan(plan);
    };
    callbacks.search.announce = [this](const search::PlannedProbe& probe) {
      search_.Announce(probe);
    };
    callbacks.search.progress = [this](const RunTestsEvent& event) {
      search_.Show(event);
    };
    callbacks.search.observe = [this](const SearchReport& report,
                                      const SearchProbe& probe,
                                      const search::Bracket& bracket) {
      search_.Observe(report, probe, bracket);
    };
  }

  void ShowPlan(const ExperimentPlan& plan,
                const TestSequenceResults& results) {
    cells_.ShowPlan(plan, results);
  }

  void Clear() {
    traffic_.Clear();
    search_.Clear();
  }

 private:
  client::ProgressDisplay traffic_;
  search::SearchDisplay search_;
  ExperimentDisplay cells_;
};

// Says before the first run what cells lack: the others may take hours.
absl::Status SayWhatIsImpossible(const ExperimentPlan& plan,
                                 const TestSequenceResults& results,
                                 client::TestClient& client) {
  const absl::StatusOr<GetStatusResponse> status = client.GetStatusWithHosts();
  if (!status.ok()) return status.status();
  const std::vector<std::string> sentences = ImpossibleCells(
      plan, results, [&status](const DistributedSystemDescription& test) {
        return cli::CheckNodes(test, *status).problems;
      });
  for (const std::string& sentence : sentences) {
    std::cerr << "warning: " << sentence << std::endl;
  }
  return absl::OkStatus();
}

int Run(const ProtectionFlags& flags, results::ResultEncoding encoding,
        const ExperimentPlan& plan, client::TestClient& client,
        TestSequenceResults results) {
  Display display(flags.quiet);
  ExperimentCallbacks callbacks;
  callbacks.run = search::RunOnSequencer(client);
  callbacks.save = [&](const TestSequenceResults& so_far) {
    if (PathOf(flags).empty()) return absl::OkStatus();
    return results::WriteResults(so_far, PathOf(flags), encoding);
  };
  display.AddTo(callbacks);
  display.ShowPlan(plan, results);
  absl::Status status = SayWhatIsImpossible(plan, results, client);
  if (status.ok()) status = RunExperiment(plan, callbacks, results);
  display.Clear();
  std::cout << ProtectionText(results) << std::flush;
  const int exit_code = ExitCodeOf(results, flags.output.allow_invalid);
  return status.ok() ? exit_code : cli::Fail(status, report::kExitRunFailed);
}

absl::StatusOr<int> Protection(const ProtectionFlags& flags,
                               base::StopSignals& stop) {
  const auto lock = cli::LockKept(flags.resume, flags.output.outfile);
  if (!lock.ok()) return lock.status();
  const absl::StatusOr<DistributedSystemDescription> test =
      LoadExperiment(flags);
  if (!test.ok()) return test.status();
  absl::StatusOr<TestSequenceResults> results = cli::EarlierResults(
      flags.resume, flags.output.outfile, "what is resumed", KeptExperiment);
  if (!results.ok()) return results.status();
  const absl::StatusOr<results::ResultEncoding> encoding =
      cli::EncodingToKeep(flags.resume, flags.output.binary_output);
  if (!encoding.ok()) return encoding.status();
  absl::Status checked = CheckSeed(flags, *results);
  checked.Update(cli::CheckOutput(flags.output));
  if (!checked.ok()) return checked;
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  const absl::StatusOr<ExperimentPlan> plan =
      PlanOnSequencer(*test, NewSeed(flags, *test), *results, **client);
  if (!plan.ok()) {
    if (flags.resume.empty()) return plan.status();
    return absl::InvalidArgumentError(
        absl::StrCat("cannot resume ", flags.resume, ": ",
                     std::string(plan.status().message())));
  }
  stop.SetHandler([&client] { (*client)->Cancel(); });
  const int exit_code =
      Run(flags, *encoding, *plan, **client, *std::move(results));
  stop.SetHandler({});
  return exit_code;
}

void AddProtectionCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "protection",
      "Measures what a service keeps beside noisy neighbours");
  auto flags = std::make_shared<ProtectionFlags>();
  cli::AddTestSequencerFlag(command, flags->test_sequencer);
  cli::AddTlsFlags(command, flags->tls);
  cli::AddInfileFlag(command, flags->infile);
  cli::AddInfileArgument(command, flags->infile);
  cli::AddNumberFlag(command, "--repeat", flags->repeat, 1, kMaxCellRepeat, "N",
                     "Run each cell this often; default: the config's repeat");
  cli::AddNumberFlag(command, "--seed", flags->seed, 0,
                     std::numeric_limits<uint64_t>::max(), "N",
                     "Seed of the order of the cells and of their traffic;\n"
                     "default: the config's random_seed, or a random one");
  cli::AddTestOutputFlags(command, flags->output);
  cli::AddTextFlag(
      command, "--resume", flags->resume, "FILE",
      "Go on with the experiment in this outfile, and write to it");
  cli::AddQuietFlag(command, flags->quiet);
  cli::SetFooter(
      command,
      "Runs the cells of the config's experiment: each set of controls with\n"
      "each antagonist, and with none, at each load. The outfile is written\n"
      "after each cell. SIGINT or SIGTERM keeps the cells that are complete;\n"
      "--resume continues. Prints the report to stdout. Exits 3 if a cell\n"
      "could not be measured. See docs/products/protection.md.\n\n"
      "Example:\n"
      "  distbench protection workloads/protection.config \\\n"
      "      --test_sequencer=host1:10000 --outfile=protection.pb.gz");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return Protection(*flags, stop);
  });
}

std::vector<flags::Candidate> ControlsCandidates(
    const flags::ValueRequest& request) {
  return cli::NamesInConfigs(request, [](const auto& test, auto& names) {
    for (const auto& controls : test.experiment().controls()) {
      names.insert(controls.name());
    }
  });
}

std::vector<flags::Candidate> AntagonistCandidates(
    const flags::ValueRequest& request) {
  return cli::NamesInConfigs(request, [](const auto& test, auto& names) {
    for (const auto& antagonist : test.experiment().antagonists()) {
      names.insert(antagonist.name());
    }
  });
}

// For commands that leave a test's experiment out.
std::string RemarkOnExperiment(const DistributedSystemDescription& test) {
  return test.has_experiment() ? "runs without its experiment, for which there "
                                 "is `distbench protection`"
                               : "";
}

absl::StatusOr<int> Guard(const std::string& journal) {
  constexpr int kSocket = base::ChildProgram::kInheritedNumber;
  struct stat socket = {};
  if (fstat(kSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    return absl::InvalidArgumentError(
        "node managers start this themselves; see: distbench help "
        "node_manager");
  }
  KernelGroupFiles files;
  const absl::Status status =
      RunGuardian(base::FileDescriptor(kSocket), journal, files);
  return status.ok() ? report::kExitOk
                     : cli::Fail(status, report::kExitRunFailed);
}

void AddControlGuardianCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command =
      cli::AddSubcommand(app, kGuardianSubcommand,
                         "Undoes the controls of a node manager that died");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  auto journal = std::make_shared<std::string>();
  cli::AddArgument(command, "journal", *journal, "FILE", "");
  cli::Require(command, "journal");
  cli::SetBody(command, chosen, [journal] { return Guard(*journal); });
}

const base::Plugin<base::Product> kProduct(
    "protection",
    new base::Product{
        "Measures how controls protect a service from antagonists"});

const base::Plugin<Command> kCommands[] = {
    {"control_guardian",
     new Command{HelpSection::kHidden, AddControlGuardianCommand}},
    {"protection", new Command{HelpSection::kRuns, AddProtectionCommand}},
};

const base::Plugin<cli::ValueType> kValues[] = {
    {"ANTAGONIST", new cli::ValueType{AntagonistCandidates}},
    {"CONTROLS", new cli::ValueType{ControlsCandidates}},
};

const base::Plugin<cli::TestRemark> kRemark("protection",
                                            new cli::TestRemark{
                                                RemarkOnExperiment});

}  // namespace
}  // namespace distbench::protection
