// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/numa/topology.h"
#include "distbench/products/numa_compare/numa_compare.h"
#include "distbench/products/numa_compare/page_files.h"
#include "distbench/products/search/command.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::numa_compare {
namespace {

using cli::Command;
using cli::HelpSection;

constexpr int kMaxDeployed = 1024;
constexpr int kMaxRounds = 1000;

struct NumaCompareFlags {
  std::string pattern;
  std::string infile = "-";
  NumaOptions options;
  search::SearchFlags search;
  int repetitions = 3;
  uint64_t seed = 0;
  cli::TestOutputFlags output;
  bool quiet = false;
};

// Most commands have a file where this one has a pattern.
absl::StatusOr<DistributedSystemDescription> LoadTest(
    const NumaCompareFlags& flags) {
  absl::StatusOr<DistributedSystemDescription> test =
      cli::LoadOneTest(flags.pattern, flags.infile);
  std::error_code error;
  if (!test.ok() && std::filesystem::is_regular_file(flags.pattern, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.pattern, " is a file, not a pattern; name it with ",
                     "--infile=", flags.pattern));
  }
  return test;
}

absl::StatusOr<int> NumaCompare(NumaCompareFlags& flags,
                                base::StopSignals& stop) {
  const absl::StatusOr<DistributedSystemDescription> test = LoadTest(flags);
  if (!test.ok()) return test.status();
  // Everything that can be wrong, before hours have been spent.
  const absl::Status checked = cli::CheckOutput(flags.output);
  if (!checked.ok()) return checked;
  const absl::StatusOr<std::string> program = cli::OwnProgram();
  if (!program.ok()) return program.status();
  flags.options.search = search::SpecOf(flags.search);
  const absl::StatusOr<NumaPlan> plan =
      PlanNumaComparison(*test, flags.options, numa::ReadHostTopology(""));
  if (!plan.ok()) return plan.status();

  const auto say = [&flags](const std::string& line) {
    if (!flags.quiet) std::cerr << line << std::endl;
  };
  if (flags.seed == 0) flags.seed = std::random_device()();
  say(absl::StrCat("Random order of the searches: --seed=", flags.seed));
  client::ConsoleRun run;
  run.status =
      RunNumaComparison(*plan, flags.repetitions, flags.seed,
                        SearchLocally(*program, say,
                                      [&stop](std::function<void()> handler) {
                                        stop.SetHandler(std::move(handler));
                                      }),
                        run.results);
  run.traffic_started = run.results.test_results_size() > 0;
  std::cout << RenderNumaComparison(run.results.numa_comparison())
            << std::flush;
  return cli::FinishRun(run, flags.output);
}

void AddDeploymentFlags(CLI::App& command, NumaCompareFlags& flags) {
  cli::AddTextFlag(command, "--service", flags.options.service, "SERVICE",
                   "Service to deploy in different ways; default: the only\n"
                   "service that serves RPCs and starts none");
  cli::AddTextFlag(command, "--numa_nodes", flags.options.numa_nodes, "LIST",
                   "NUMA nodes for the service, such as 0-1; default: all");
  cli::AddTextFlag(command, "--generator_cpus", flags.options.generator_cpus,
                   "LIST",
                   "CPUs of all other services, such as 3,7; default: the\n"
                   "CPUs of other nodes, else those of the service");
  cli::AddNumberFlag(
      command, "--instances", flags.options.instances, 1, kMaxDeployed, "N",
      "Instances in all deployments but the first; default: one\n"
      "per node, or two on a single node");
  cli::AddNumberFlag(command, "--workers", flags.options.workers, 1,
                     kMaxDeployed, "N",
                     "Threads of all instances together; default: one per CPU\n"
                     "of the service");
}

void AddSearchFlags(CLI::App& command, NumaCompareFlags& flags) {
  cli::AddNumberFlag(command, "--cpu", flags.options.cpu_percent, 1.0, 100.0,
                     "PERCENT",
                     "Find the load at which the host's CPUs are this busy");
  cli::AddTextFlag(command, "--slo", flags.options.objective, "OBJECTIVE",
                   "Also find the highest load that meets this objective,\n"
                   "such as 'query p99<=2ms'; default: none");
  search::AddEffortFlags(command, /*suffix=*/"", flags.search);
  cli::AddNumberFlag(command, "--repeat", flags.repetitions, 1, kMaxRounds, "N",
                     "Number of searches of each kind; confidence intervals\n"
                     "need two or more");
  cli::AddNumberFlag(command, "--seed", flags.seed, 0,
                     std::numeric_limits<uint64_t>::max(), "N",
                     "Seed for the order of the searches; 0: random, printed");
}

void AddNumaCompareCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "numa_compare",
      "Compares deployments of a test on this host's NUMA nodes");
  auto flags = std::make_shared<NumaCompareFlags>();
  cli::AddArgument(command, "PATTERN", flags->pattern, "PATTERN",
                   "A test in test_builder's syntax, such as\n"
                   "feed_aggregator:grpc");
  cli::AddInfileFlag(command, flags->infile);
  cli::Exclude(command, "PATTERN", "--infile");
  AddDeploymentFlags(command, *flags);
  AddSearchFlags(command, *flags);
  cli::AddTestOutputFlags(command, flags->output);
  cli::AddQuietFlag(command, flags->quiet);
  cli::SetFooter(
      command,
      "Starts its own sequencer and node managers, and searches for the\n"
      "highest load in each deployment, all with the same total of workers:\n"
      "one instance of the service on all CPUs (one_unbound); several\n"
      "instances on all CPUs (unbound); each bound to the CPUs and memory of\n"
      "one NUMA node (bound); the same with another node's memory\n"
      "(bound_remote). See docs/numa.md. Exits 3 if a binding did not hold.\n\n"
      "Example:\n"
      "  distbench numa_compare --infile=my_test.config --service=server \\\n"
      "      --slo='query p99<=2ms' --outfile=numa.pb.gz --binary_output");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return NumaCompare(*flags, stop);
  });
}

const base::Plugin<base::Product> kProduct(
    "numa_compare",
    new base::Product{
        "Compares deployments of a test on the NUMA nodes of a host"});

const base::Plugin<Command> kCommand("numa_compare",
                                     new Command{HelpSection::kRuns,
                                                 AddNumaCompareCommand});

base::Json ValueOf(const report::ReportInput& input,
                   const report::JsonLimits&) {
  base::Json json = base::Json::array();
  for (const report::SourcedResults& sourced : input.results) {
    if (!sourced.results.has_numa_comparison()) continue;
    json.push_back(base::MessageJson(
        ReportNumaComparison(sourced.results.numa_comparison())));
  }
  return json;
}

std::string TextOf(const report::ReportInput& input) {
  std::string text;
  for (const report::SourcedResults& sourced : input.results) {
    text += RenderNumaComparison(sourced.results.numa_comparison());
  }
  return text;
}

const base::Plugin<report::DocumentKey> kKey("numa_comparisons",
                                             new report::DocumentKey{
                                                 {"tests", 1}, ValueOf});

const base::Plugin<report::TextPart> kText(
    "numa_comparisons", new report::TextPart{{report::kTextTests, 1}, TextOf});

const base::Plugin<report::PagePart> kPage(
    "numa", new report::PagePart{{"sweep", 2}, kNumaHtml, kNumaJs});

}  // namespace
}  // namespace distbench::numa_compare
