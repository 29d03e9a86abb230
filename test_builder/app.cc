#include "test_builder/app.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/verdicts/check.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/config_text.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"
#include "test_builder/command_line.h"
#include "test_builder/help.h"
#include "test_builder/run/outcome.h"
#include "test_builder/run/result_directory.h"
#include "test_builder/run/test_runner.h"

namespace distbench::test_builder {
namespace {

using Tests = std::vector<DistributedSystemDescription>;

// One invocation of test_builder.
class App {
 public:
  App(CommandLine line, const AppEnvironment& environment)
      : line_(std::move(line)),
        environment_(environment),
        directory_(line_.output, line_.tests.label, ProducedBy(line_.arguments),
                   format()) {}

  int Run();

 private:
  int DryRun(const Tests& tests);
  int Print(const Tests& tests);
  int Write(const Tests& tests);
  int RunAll(const Tests& tests);
  int JudgeObjectives(absl::Span<const TestOutcome> outcomes) const;

  config::ConfigFormat format() const {
    return *config::FindConfigFormat(line_.format);
  }
  bool to_directory() const { return line_.output != "-"; }
  void Say(absl::string_view text);
  int Fail(const absl::Status& error, int exit_code);
  void AddObjectives(Tests& tests) const;
  absl::Status PrepareDirectory(const Tests& tests);

  const CommandLine line_;
  const AppEnvironment& environment_;
  const ResultDirectory directory_;
};

void App::Say(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    *environment_.messages << "test_builder: " << line << "\n";
  }
  *environment_.messages << std::flush;
}

int App::Fail(const absl::Status& error, int exit_code) {
  Say(error.message());
  return exit_code;
}

int App::Run() {
  Notes notes;
  absl::StatusOr<Tests> tests = BuildTests(line_.tests, notes);
  if (!tests.ok()) return Fail(tests.status(), report::kExitUsage);
  AddObjectives(*tests);
  const absl::Status check = CheckTests(*tests, notes);
  for (const std::string& note : notes.all()) Say(absl::StrCat("note: ", note));
  if (!check.ok()) {
    if (!line_.sequencer.empty()) return Fail(check, report::kExitUsage);
    Say(absl::StrCat("note: these tests cannot be run here:\n",
                     check.message()));
  }
  if (line_.dry_run) return DryRun(*tests);
  if (!to_directory()) return Print(*tests);
  if (const absl::Status status = PrepareDirectory(*tests); !status.ok()) {
    return Fail(status, report::kExitUsage);
  }
  return line_.sequencer.empty() ? Write(*tests) : RunAll(*tests);
}

// The objectives go with the tests, so that results say what they were judged
// by.
void App::AddObjectives(Tests& tests) const {
  for (DistributedSystemDescription& test : tests) {
    for (const std::string& objective : line_.objectives) {
      test.add_objectives(objective);
    }
  }
}

int App::DryRun(const Tests& tests) {
  double seconds = 0;
  for (const DistributedSystemDescription& test : tests) {
    const bool kept = to_directory() && directory_.HasResult(test.name());
    if (!kept) seconds += TrafficSeconds(test);
    *environment_.output << absl::StrFormat(
        "%8g s  %s%s\n", TrafficSeconds(test), test.name(),
        kept ? "  (has a result, which is kept)" : "");
  }
  *environment_.output << tests.size()
                       << (tests.size() == 1 ? " test" : " tests")
                       << ", at most "
                       << absl::FormatDuration(absl::Seconds(seconds))
                       << " of traffic to run\n"
                       << std::flush;
  return report::kExitOk;
}

int App::Print(const Tests& tests) {
  *environment_.output << ConfigFile(ProducedBy(line_.arguments), tests,
                                     format())
                       << std::flush;
  return report::kExitOk;
}

// Creates the directory, and writes the config with all tests.
absl::Status App::PrepareDirectory(const Tests& tests) {
  const absl::StatusOr<bool> created = directory_.Create();
  if (!created.ok()) return created.status();
  if (*created && !line_.quiet) {
    Say(absl::StrCat("made the directory ", line_.output));
  }
  if (tests.size() == 1) return absl::OkStatus();
  return directory_.WriteSequence(tests);
}

int App::Write(const Tests& tests) {
  for (const DistributedSystemDescription& test : tests) {
    const std::string path = directory_.ConfigPath(test.name());
    const std::optional<std::string> other =
        directory_.HasResult(test.name()) ? directory_.FindOtherConfig(test)
                                          : std::nullopt;
    if (other.has_value()) {
      Say(absl::StrCat("note: ", *other,
                       " is kept, because it has a result; use another "
                       "directory or a label (-l)"));
      continue;
    }
    if (const absl::Status status = directory_.WriteConfig(test);
        !status.ok()) {
      return Fail(status, report::kExitUsage);
    }
    if (line_.quiet) continue;
    *environment_.messages << "Individual test config saved in " << path
                           << ".\n";
  }
  if (tests.size() > 1 && !line_.quiet) {
    *environment_.messages << "Test sequence config saved in "
                           << directory_.SequencePath() << ".\n";
  }
  return report::kExitOk;
}

int App::RunAll(const Tests& tests) {
  const std::unique_ptr<TestBackend> backend =
      environment_.make_backend(line_.sequencer, line_.tls);
  const bool all_kept =
      std::all_of(tests.begin(), tests.end(),
                  [&](const DistributedSystemDescription& test) {
                    return directory_.HasResult(test.name());
                  });
  if (!all_kept) {
    const absl::Status status = backend->Connect();
    if (!status.ok()) return Fail(status, report::kExitUsage);
  }
  TestRunner runner(*backend, directory_,
                    {.output = environment_.output,
                     .messages = environment_.messages,
                     .result_text = {.terminal = environment_.terminal,
                                     .verbose = line_.verbose,
                                     .objectives = line_.objectives},
                     .progress = environment_.make_progress(
                         static_cast<int>(tests.size()), line_.quiet),
                     .quiet = line_.quiet,
                     .stop_requested = environment_.stop_requested});
  environment_.set_stop_handler([&backend] { backend->Cancel(); });
  const std::vector<TestOutcome> outcomes = runner.RunAll(tests);
  environment_.set_stop_handler({});

  if (outcomes.size() > 1) {
    *environment_.output
        << "\nAll tests, with response times where the load is "
           "an open loop and service times elsewhere:\n"
        << OutcomeTable(outcomes) << std::flush;
  }
  const bool all_ok = std::all_of(
      outcomes.begin(), outcomes.end(), [this](const TestOutcome& outcome) {
        return outcome.verdict == TestOutcome::Verdict::kOk ||
               outcome.verdict == TestOutcome::Verdict::kWarn ||
               (outcome.verdict == TestOutcome::Verdict::kInvalid &&
                line_.allow_invalid);
      });
  const int exit_code = all_ok ? report::kExitOk : report::kExitRunFailed;
  return std::max(exit_code, JudgeObjectives(outcomes));
}

// Prints all verdicts, unless there is only a result that the terminal shows
// with its verdicts.
int App::JudgeObjectives(absl::Span<const TestOutcome> outcomes) const {
  std::vector<report::Check> checks;
  bool were_shown = environment_.terminal.is_terminal && outcomes.size() == 1;
  for (const TestOutcome& outcome : outcomes) {
    checks.insert(checks.end(), outcome.objectives.begin(),
                  outcome.objectives.end());
    were_shown &= !outcome.kept;
  }
  if (!checks.empty() && !were_shown) {
    *environment_.output << "Objectives:\n"
                         << report::ChecksText(checks) << std::flush;
  }
  return report::AllPass(checks, line_.allow_undecided)
             ? report::kExitOk
             : report::kExitGateNotMet;
}

// Runs what the command line asks for. Where it is refused, users may wonder
// about flags that they did not type.
int RunApp(CommandLine line, const AppEnvironment& environment) {
  const std::vector<std::string> filled = line.filled;
  const int exit_code = App(std::move(line), environment).Run();
  if (exit_code != report::kExitUsage) return exit_code;
  for (const std::string& each : filled) {
    *environment.messages << "test_builder: " << each << "\n";
  }
  *environment.messages << std::flush;
  return exit_code;
}

}  // namespace

int RunTestBuilder(const std::vector<std::string>& arguments,
                   const AppEnvironment& environment) {
  absl::StatusOr<CommandLine> line =
      ParseCommandLine(arguments, environment.variables);
  if (!line.ok()) {
    *environment.messages << "test_builder: " << line.status().message()
                          << "\nSee: test_builder help\n"
                          << std::flush;
    return report::kExitUsage;
  }
  if (line->version) {
    *environment.output << environment.version << "\n" << std::flush;
    return report::kExitOk;
  }
  if (!line->help) return RunApp(*std::move(line), environment);
  if (line->help_topic.empty()) {
    *environment.output << GeneralHelp() << std::flush;
    return report::kExitOk;
  }
  const absl::StatusOr<std::string> help = TopicHelp(line->help_topic);
  if (!help.ok()) {
    *environment.messages << "test_builder: " << help.status().message() << "\n"
                          << std::flush;
    return report::kExitUsage;
  }
  *environment.output << *help << std::flush;
  return report::kExitOk;
}

}  // namespace distbench::test_builder
