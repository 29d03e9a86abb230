#include "distbench/products/search/command_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/flags.h"
#include "distbench/products/search/strategy/load_search.h"

namespace distbench::search {
namespace {

constexpr int kMaxInstances = 1000;

// Returns an empty string if the text is a number of instances, else the error.
std::string CheckInstances(const std::string& text) {
  int count = 0;
  if (text == "auto" || (absl::SimpleAtoi(text, &count) && count >= 1 &&
                         count <= kMaxInstances)) {
    return "";
  }
  return absl::StrCat("\"", text, "\" is neither auto nor a number from 1 to ",
                      kMaxInstances);
}

void AddLoadFlags(CLI::App& command, SearchFlags& flags) {
  const CLI::Validator load = CLI::Range(1e-6, kMaxSearchLoad).description("");
  cli::AddRepeatedFlag(command, "--slo", flags.objectives, "OBJECTIVE",
                       "Objective to meet, such as 'my_rpc p95<=500ms',\n"
                       "'my_rpc failures<=0.1%', 'cpu<=60%' or, beside an\n"
                       "antagonist, 'isol_p05>=90%'; if repeated, all must be\n"
                       "met. Default: those of the config's search");
  cli::AddTextFlag(command, "--knob", flags.knob, "KNOB",
                   "Setting to vary: rate (a factor on all open loops),\n"
                   "concurrency, concurrency:ACTION, payload:NAME,\n"
                   "fanout:RPC, control:SET:SETTING or\n"
                   "builder:CONFIG:PARAMETER; default: rate");
  command
      .add_option("--qps,--loads", flags.loads,
                  "Do not search, but run each of these loads once")
      ->check(load)
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("LOAD[,LOAD...]");
  command
      .add_option("--initial_qps,--initial_load", flags.initial_load,
                  "First load to try; default: the test's own load")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--min_qps,--min_load", flags.min_load,
                  "Lowest load to try; default: 1")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--max_qps,--max_load", flags.max_load,
                  "Highest load to try; default: the knob's maximum")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--instances", flags.instances,
                  "Copies of the system that run side by side; auto: one\n"
                  "for each 100 CPUs of the nodes' hosts, rounded up")
      ->check(CheckInstances)
      ->type_name("N|auto")
      ->capture_default_str();
  command.add_flag("--cpu_slices", flags.cpu_slices,
                   "Each copy has cores of its own, all nodes being on one\n"
                   "host; implied by --instances=auto on one host");
}

void AddCellFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddTextFlag(
      command, "--controls", flags.controls, "CONTROLS",
      "With an objective on isolation: the set of controls of the\n"
      "test's experiment that holds; default: the only one");
  cli::AddTextFlag(
      command, "--antagonist", flags.antagonist, "ANTAGONIST",
      "With an objective on isolation: the antagonist; default: the\n"
      "only one");
}

void AddEffortFlags(CLI::App& command, SearchFlags& flags) {
  command
      .add_option("--tolerance", flags.tolerance_percent,
                  "Precision of the answer, in percent; default: 2")
      ->check(CLI::Range(100 * kMinSearchTolerance, 100 * kMaxSearchTolerance)
                  .description(""))
      ->type_name("PERCENT");
  command
      .add_option("--max_probes", flags.max_probes,
                  "Give up after this many runs; default: 25")
      ->check(CLI::Range(kMinSearchProbes, kMaxSearchProbes).description(""))
      ->type_name("N");
  cli::AddDurationFlag(
      command, "--max_time", flags.max_time,
      "Give up rather than exceed this total time of traffic;\n"
      "default: no limit");
  cli::AddDurationFlag(command, "--warmup", flags.warmup,
                       "Warm-up of each run; default: 2s");
  cli::AddDurationFlag(
      command, "--probe_duration", flags.probe,
      "Measured time of a run; near the limit more; default: 10s");
  cli::AddDurationFlag(
      command, "--final_duration", flags.final_run,
      "Duration of the final run and of --qps runs; default: 60s");
}

void AddOutputFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddTextFlag(command, "--csv", flags.csv, "FILE",
                   "Write the table of probes here; default: stdout");
  cli::AddTextFlag(
      command, "--outfile", flags.outfile, "FILE",
      "Write the search and its final runs here after each probe;\n"
      "compressed if the name ends in .gz");
  command.add_flag("--binary_output", flags.binary_output,
                   "Write the outfile in binary instead of text");
  cli::AddTextFlag(command, "--resume", flags.resume, "FILE",
                   "Resume the search in this outfile, and write to it");
  cli::AddTextFlag(
      command, "--on_final", flags.on_final, "COMMAND",
      "Shell command, such as a profiler, to run when the final run\n"
      "begins; DISTBENCH_FINAL_START and _END hold its times");
  cli::AddQuietFlag(command, flags.quiet);
}

// Where probes run.
void AddPlaceFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddTestSequencerFlag(command, flags.test_sequencer);
  command.get_option("--test_sequencer")->required(false);
  cli::AddTlsFlags(command, flags.tls);
  const cli::TestSimulation* const simulation = cli::FindTestSimulation();
  if (simulation == nullptr) return;
  CLI::Option* const simulate = command.add_flag(
      "--simulate", flags.simulate,
      "Search on simulated hosts instead of a sequencer's nodes");
  flags.simulation = simulation->make_options();
  for (const std::string& name : flags.simulation->AddFlags(command)) {
    command.get_option(name)->needs(simulate);
  }
}

}  // namespace

void AddSearchFlags(CLI::App& command, SearchFlags& flags) {
  AddPlaceFlags(command, flags);
  command
      .add_option("--infile", flags.infile,
                  "The test, as text or binary; - reads standard input;\n"
                  "default: -. Not with --knob=builder:...")
      ->type_name("FILE")
      ->check([](const std::string& value) {
        return absl::StartsWith(value, "--") ? "its FILE is missing" : "";
      });
  command.add_option("FILE", flags.infile, "The same as --infile=FILE")
      ->excludes(command.get_option("--infile"))
      ->option_text(" ");
  AddLoadFlags(command, flags);
  AddCellFlags(command, flags);
  AddEffortFlags(command, flags);
  AddOutputFlags(command, flags);
}

LoadSearchSpec SpecOf(const SearchFlags& flags) {
  LoadSearchSpec spec;
  for (const std::string& text : flags.objectives) spec.add_objectives(text);
  if (!flags.knob.empty()) spec.set_knob(flags.knob);
  if (flags.initial_load) spec.set_initial_load(*flags.initial_load);
  if (flags.min_load) spec.set_min_load(*flags.min_load);
  if (flags.max_load) spec.set_max_load(*flags.max_load);
  if (flags.tolerance_percent) {
    spec.set_tolerance(*flags.tolerance_percent / 100);
  }
  if (flags.max_probes) spec.set_max_probes(*flags.max_probes);
  const auto microseconds = [](absl::Duration duration) {
    return absl::ToInt64Microseconds(duration);
  };
  if (flags.warmup > absl::ZeroDuration()) {
    spec.set_warmup_us(microseconds(flags.warmup));
  }
  if (flags.probe > absl::ZeroDuration()) {
    spec.set_probe_duration_us(microseconds(flags.probe));
  }
  if (flags.final_run > absl::ZeroDuration()) {
    spec.set_final_duration_us(microseconds(flags.final_run));
  }
  return spec;
}

}  // namespace distbench::search
