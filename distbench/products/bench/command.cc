#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/products/bench/command.h"
#include "distbench/products/bench/kinds/job_kind.h"

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
      AddAction(bench, "summary", "Prints the last line of each result",
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
  cli::AddTextFlag(command, "--outfile", flags->outfile, "FILE",
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

}  // namespace distbench::bench
