// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/app.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/client/progress_display.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/verdicts/check.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/config_text.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"
#include "test_builder/command_line.h"
#include "test_builder/help.h"
#include "test_builder/run/result_directory.h"

namespace distbench::test_builder {
namespace {

using Tests = std::vector<DistributedSystemDescription>;

void Say(absl::string_view text, const RunConsole& console) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    *console.messages << "test_builder: " << line << std::endl;
  }
}

// One invocation of test_builder. The errors of its methods are those before
// any traffic.
class App {
 public:
  App(const CommandLine& line, const AppEnvironment& environment)
      : line_(line),
        environment_(environment),
        console_(environment.console),
        header_(ProducedBy(line.arguments)),
        directory_(line.output, line.tests.label, header_, format()) {}

  // Returns an ExitCode.
  absl::StatusOr<int> Run();

 private:
  absl::StatusOr<int> BuildAndRun();
  int DryRun(const Tests& tests);
  absl::Status CheckKeptResults(const Tests& tests) const;
  absl::Status PrepareDirectory(const Tests& tests);
  absl::StatusOr<int> Write(const Tests& tests);
  absl::StatusOr<int> RunAll(const Tests& tests);
  int JudgeObjectives(absl::Span<const TestOutcome> outcomes) const;
  int Print(absl::string_view text) const;

  config::ConfigFormat format() const {
    return *config::FindConfigFormat(line_.format);
  }
  bool to_directory() const { return line_.output != "-"; }

  const CommandLine& line_;
  const AppEnvironment& environment_;
  const RunConsole& console_;
  const std::string header_;  // of configs
  const ResultDirectory directory_;
};

int App::Print(absl::string_view text) const {
  *console_.output << text << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> App::Run() {
  if (line_.version) return Print(environment_.version + "\n");
  if (line_.help && line_.help_topic.empty()) return Print(GeneralHelp());
  if (line_.help) {
    const absl::StatusOr<std::string> help = TopicHelp(line_.help_topic);
    if (!help.ok()) return help.status();
    return Print(*help);
  }
  return BuildAndRun();
}

absl::StatusOr<int> App::BuildAndRun() {
  Notes notes;
  absl::StatusOr<Tests> tests = BuildTests(line_.tests, notes);
  if (!tests.ok()) return tests.status();
  // The objectives go with the tests, so that results say what they were judged
  // by.
  for (DistributedSystemDescription& test : *tests) {
    test.mutable_objectives()->Add(line_.objectives.begin(),
                                   line_.objectives.end());
  }
  const absl::Status check = CheckTests(*tests, notes);
  for (const std::string& note : notes.all()) {
    Say(absl::StrCat("note: ", note), console_);
  }
  if (!check.ok()) {
    if (!line_.sequencer.empty()) return check;
    Say(absl::StrCat("note: these tests cannot be run here:\n",
                     check.message()),
        console_);
  }
  if (line_.dry_run) return DryRun(*tests);
  if (!to_directory()) return Print(ConfigFile(header_, *tests, format()));
  if (!line_.sequencer.empty()) {
    absl::Status kept = CheckKeptResults(*tests);
    if (!kept.ok()) return kept;
  }
  absl::Status prepared = PrepareDirectory(*tests);
  if (!prepared.ok()) return prepared;
  return line_.sequencer.empty() ? Write(*tests) : RunAll(*tests);
}

int App::DryRun(const Tests& tests) {
  double seconds = 0;
  for (const DistributedSystemDescription& test : tests) {
    const bool kept = to_directory() && directory_.HasResult(test.name());
    if (!kept) seconds += TrafficSeconds(test);
    Print(absl::StrFormat("%8g s  %s%s\n", TrafficSeconds(test), test.name(),
                          kept ? "  (has a result, which is kept)" : ""));
  }
  return Print(absl::StrCat(
      tests.size(), tests.size() == 1 ? " test" : " tests", ", at most ",
      absl::FormatDuration(absl::Seconds(seconds)), " of traffic to run\n"));
}

// What is kept of another test of the same name is no result of this one.
absl::Status App::CheckKeptResults(const Tests& tests) const {
  std::vector<std::string> problems;
  for (const DistributedSystemDescription& test : tests) {
    if (!directory_.HasResult(test.name())) continue;
    const std::optional<std::string> other = directory_.FindOtherConfig(test);
    if (!other.has_value()) continue;
    problems.push_back(absl::StrCat(
        *other, " differs from the requested config, and has a result, ",
        directory_.ResultPath(test.name()),
        "; remove that, or use another directory or a label (-l)"));
  }
  return problems.empty()
             ? absl::OkStatus()
             : absl::FailedPreconditionError(absl::StrJoin(problems, "\n"));
}

// Creates the directory, and writes the config with all tests.
absl::Status App::PrepareDirectory(const Tests& tests) {
  const absl::StatusOr<bool> created = directory_.Create();
  if (!created.ok()) return created.status();
  if (*created && !line_.quiet) {
    Say(absl::StrCat("made the directory ", line_.output), console_);
  }
  if (tests.size() == 1) return absl::OkStatus();
  return directory_.WriteSequence(tests);
}

absl::StatusOr<int> App::Write(const Tests& tests) {
  for (const DistributedSystemDescription& test : tests) {
    const std::optional<std::string> other =
        directory_.HasResult(test.name()) ? directory_.FindOtherConfig(test)
                                          : std::nullopt;
    if (other.has_value()) {
      Say(absl::StrCat("note: ", *other,
                       " is kept, because it has a result; remove that, or use "
                       "another directory or a label (-l)"),
          console_);
      continue;
    }
    absl::Status written = directory_.WriteConfig(test);
    if (!written.ok()) return written;
    if (line_.quiet) continue;
    *console_.messages << "Individual test config saved in "
                       << directory_.ConfigPath(test.name()) << ".\n";
  }
  if (tests.size() > 1 && !line_.quiet) {
    *console_.messages << "Test sequence config saved in "
                       << directory_.SequencePath() << ".\n";
  }
  return report::kExitOk;
}

absl::StatusOr<int> App::RunAll(const Tests& tests) {
  const std::unique_ptr<TestBackend> backend =
      environment_.make_backend(line_.sequencer, line_.tls);
  const bool all_kept = absl::c_all_of(tests, [this](const auto& test) {
    return directory_.HasResult(test.name());
  });
  if (!all_kept) {
    absl::Status connected = backend->Connect();
    if (!connected.ok()) return connected;
  }
  RunConsole console = console_;
  console.result_text.verbose = line_.verbose;
  console.result_text.objectives = line_.objectives;
  console.quiet = line_.quiet;
  if (line_.quiet) console.progress = client::StderrProgress(0, line_.quiet);
  console.progress.test_count = static_cast<int>(tests.size());
  const std::vector<TestOutcome> outcomes =
      TestRunner(*backend, directory_, console, line_.allow_invalid)
          .RunAll(tests);
  if (outcomes.size() > 1) {
    Print(absl::StrCat("\n", OutcomeTable(outcomes)));
  }
  const bool all_ok = absl::c_all_of(outcomes, [this](const auto& outcome) {
    return outcome.verdict == "ok" || outcome.verdict == "warn" ||
           (outcome.verdict == "invalid" && line_.allow_invalid);
  });
  return std::max<int>(all_ok ? report::kExitOk : report::kExitRunFailed,
                       JudgeObjectives(outcomes));
}

// Prints all verdicts, unless there is only a result that the terminal shows
// with its verdicts.
int App::JudgeObjectives(absl::Span<const TestOutcome> outcomes) const {
  std::vector<report::Check> checks;
  bool were_shown =
      console_.result_text.terminal.is_terminal && outcomes.size() == 1;
  for (const TestOutcome& outcome : outcomes) {
    absl::c_copy(outcome.objectives, std::back_inserter(checks));
    were_shown &= !outcome.kept;
  }
  if (!checks.empty() && !were_shown) {
    Print(absl::StrCat("Objectives:\n", report::ChecksText(checks)));
  }
  return report::AllPass(checks, line_.allow_undecided)
             ? report::kExitOk
             : report::kExitGateNotMet;
}

}  // namespace

int RunTestBuilder(const std::vector<std::string>& arguments,
                   const AppEnvironment& environment) {
  const absl::StatusOr<CommandLine> line =
      ParseCommandLine(arguments, environment.variables);
  if (!line.ok()) {
    Say(line.status().message(), environment.console);
    *environment.console.messages << "See: test_builder help" << std::endl;
    return report::kExitUsage;
  }
  const absl::StatusOr<int> exit_code = App(*line, environment).Run();
  if (exit_code.ok()) return *exit_code;
  Say(exit_code.status().message(), environment.console);
  if (line->explain == nullptr) return report::kExitUsage;
  for (const std::string& each : line->explain(exit_code.status().message())) {
    Say(each, environment.console);
  }
  return report::kExitUsage;
}

}  // namespace distbench::test_builder
