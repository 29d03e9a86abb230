#include "distbench/cli/search_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/flags.h"
#include "distbench/config/search/search_limits.h"

namespace distbench {
namespace {

constexpr int kMaxInstances = 1000;

// An empty string if the text is a number of instances; else what is wrong.
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
  const CLI::Validator load =
      CLI::Range(1e-6, kMaxSearchLoad).description("");
  command
      .add_option("--slo", flags.objectives,
                  "What must be met, such as 'my_rpc p95<=500ms',\n"
                  "'my_rpc failures<=0.1%' or 'cpu<=60%'; several: all.\n"
                  "Default: as the config's search says")
      ->type_name("OBJECTIVE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddTextFlag(command, "--knob", flags.knob, "KNOB",
              "What is turned: rate (a factor on all open loops),\n"
              "concurrency, concurrency:ACTION, payload:NAME,\n"
              "fanout:RPC or builder:CONFIG:PARAMETER; default: rate");
  command
      .add_option("--qps,--loads", flags.loads,
                  "Instead of a search: run these loads, each once")
      ->check(load)
      ->delimiter(',')
      ->type_name("LOAD[,LOAD...]");
  command
      .add_option("--initial_qps,--initial_load", flags.initial_load,
                  "Where to start; default: the test's own load")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--min_qps,--min_load", flags.min_load,
                  "Lowest load to try; default: 1")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--max_qps,--max_load", flags.max_load,
                  "Highest load to try; default: as the knob goes")
      ->check(load)
      ->type_name("LOAD");
  command
      .add_option("--instances", flags.instances,
                  "Copies of the system that run side by side; auto: one\n"
                  "for each 100 CPUs of the nodes' hosts, rounded up")
      ->check(CheckInstances)
      ->type_name("N|auto")
      ->capture_default_str();
}

void AddEffortFlags(CLI::App& command, SearchFlags& flags) {
  command
      .add_option("--tolerance", flags.tolerance_percent,
                  "How exact the answer shall be, in percent; default: 2")
      ->check(CLI::Range(100 * kMinSearchTolerance, 100 * kMaxSearchTolerance)
                  .description(""))
      ->type_name("PERCENT");
  command
      .add_option("--max_probes", flags.max_probes,
                  "Give up after so many runs; default: 25")
      ->check(CLI::Range(kMinSearchProbes, kMaxSearchProbes).description(""))
      ->type_name("N");
  AddDurationFlag(command, "--max_time", flags.max_time,
                  "Give up rather than exceed this time of traffic,\n"
                  "of all runs together; default: no limit");
  AddDurationFlag(command, "--warmup", flags.warmup,
                  "Warm-up of each run; default: 2s");
  AddDurationFlag(command, "--probe_duration", flags.probe,
                  "Measured time of a run; near the limit more; default: 10s");
  AddDurationFlag(command, "--final_duration", flags.final_run,
                  "Of the run that confirms, and of --qps; default: 60s");
}

void AddOutputFlags(CLI::App& command, SearchFlags& flags) {
  AddTextFlag(command, "--csv", flags.csv, "FILE",
              "Where the table of probes goes; default: stdout");
  AddTextFlag(command, "--outfile", flags.outfile, "FILE",
              "Where to write the search and its final runs, anew\n"
              "after each probe; compressed if the name ends in .gz");
  command.add_flag("--binary_output", flags.binary_output,
                   "Write the outfile in binary, not as text");
  AddTextFlag(command, "--resume", flags.resume, "FILE",
              "Go on with the search of this outfile, and write to it");
  AddTextFlag(command, "--on_final", flags.on_final, "COMMAND",
              "Run this in a shell when the final run begins, such as\n"
              "a profiler; DISTBENCH_FINAL_START and _END say when");
}

}  // namespace

void AddSearchFlags(CLI::App& command, SearchFlags& flags) {
  AddTestSequencerFlag(command, flags.test_sequencer);
  AddTlsFlags(command, flags.tls);
  command
      .add_option("--infile", flags.infile,
                  "The test, as text or binary; - is standard input, and\n"
                  "the default. None with --knob=builder:...")
      ->type_name("FILE")
      ->check([](const std::string& value) {
        return absl::StartsWith(value, "--") ? "its FILE is missing" : "";
      });
  AddLoadFlags(command, flags);
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

}  // namespace distbench
