// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/command_line.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"

namespace distbench::test_builder {
namespace {

constexpr int kSweepOperands = 4;

// Removes "parameter_sweep NAME START STEP END" from the arguments, so that a
// negative STEP is not mistaken for a flag.
absl::Status TakeSweeps(std::vector<std::string>& arguments,
                        std::vector<Sweep>& sweeps) {
  for (;;) {
    const auto word = std::find(arguments.begin(), arguments.end(), kSweepWord);
    if (word == arguments.end()) return absl::OkStatus();
    if (arguments.end() - word <= kSweepOperands) {
      return absl::InvalidArgumentError(
          absl::StrCat(kSweepWord, " needs NAME START STEP END, such as ",
                       kSweepWord, " qps 100 100 500"));
    }
    absl::StatusOr<Sweep> sweep = MakeSweep(word[1], word[2], word[3], word[4]);
    if (!sweep.ok()) return sweep.status();
    sweeps.push_back(*std::move(sweep));
    arguments.erase(word, word + 1 + kSweepOperands);
  }
}

// Explains an argument that no flag accepts.
std::string ExplainExtra(const CLI::App& app, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> flags;
  for (const std::string& flag : flags::LongNamesOf(app)) {
    flags.push_back(absl::StrCat("--", flag));
  }
  const std::optional<std::string> meant = config::ClosestName(name, flags);
  return absl::StrCat(
      "unknown flag ", name,
      meant ? absl::StrCat("; did you mean ", *meant, "?") : "");
}

// "help", "help TOPIC", "--help" and "TOPIC --help" all request help.
void SetHelp(CommandLine& line) {
  std::vector<std::string>& words = line.tests.configs;
  line.help = true;
  if (!words.empty() && words.front() == "help") words.erase(words.begin());
  if (words.empty()) return;
  line.help_topic = words.front().substr(0, words.front().find(':'));
}

// Fills in what the command line leaves out. A sequencer that is not on the
// command line takes the tests that a directory is given for; configs are
// printed as ever.
absl::Status FillConnection(CLI::App& app, flags::ConnectionDefaults& defaults,
                            CommandLine& line) {
  const bool names_sequencer = flags::IsGiven(app, "--test_sequencer");
  const bool names_tls = !line.tls.empty() || !line.tls.name.empty();
  const absl::Status status = defaults.Fill(app);
  if (!status.ok()) return status;
  if (!names_sequencer && line.output == "-") line.sequencer.clear();
  if (line.sequencer.empty() && !names_tls) line.tls = {};
  if (!line.sequencer.empty()) {
    line.explain = [defaults](absl::string_view error) {
      return defaults.Explain(error);
    };
  }
  return absl::OkStatus();
}

absl::Status CheckUse(const CommandLine& line) {
  if (line.tests.configs.empty()) {
    return absl::InvalidArgumentError(
        "no CONFIG: name what to build, such as client_server");
  }
  if (line.output.empty()) {
    return absl::InvalidArgumentError("-o: the directory's name is empty");
  }
  if (!line.sequencer.empty() && line.output == "-") {
    return absl::InvalidArgumentError(
        "-s runs tests and needs a directory for their results: -o DIR");
  }
  const bool has_tls = !line.tls.empty() || !line.tls.name.empty();
  if (has_tls && line.sequencer.empty()) {
    return absl::InvalidArgumentError(
        "--tls_ca, --tls_cert, --tls_key and --tls_name are for a sequencer: "
        "-s HOST:PORT");
  }
  if (absl::StrContains(line.tests.label, "/")) {
    return absl::InvalidArgumentError(
        "-l: a label begins file names and cannot contain '/'");
  }
  return absl::OkStatus();
}

}  // namespace

// Contains line breaks, because CLI11 does not wrap help texts.
void AddFlags(CLI::App& app, CommandLine& line) {
  flags::SetHelpFlag(app, "-h,--help",
                     "Print this help, or that of a pattern.");
  flags::AddTextFlag(app, "-o,--output", line.output, "DIR",
                     "Directory for configs and results, made if\n"
                     "it is missing; '-', the default: print configs.");
  flags::AddChoiceFlag(
      app, "--format", line.format, config::ConfigFormatNames(),
      absl::StrJoin(config::ConfigFormatNames(), "|"), "Format of configs.");
  flags::AddTextFlag(app, "-s,--test_sequencer", line.sequencer, "HOST:PORT",
                     "Run the tests at this sequencer; needs -o DIR.");
  flags::AddTextFlag(app, "--tls_ca", line.tls.ca, "FILE",
                     "CA that signed the sequencer's certificate (PEM);\n"
                     "without it, TLS is not used.");
  flags::AddTextFlag(app, "--tls_cert", line.tls.cert, "FILE",
                     "Certificate to show to the sequencer (PEM).");
  flags::AddTextFlag(app, "--tls_key", line.tls.key, "FILE",
                     "The certificate's private key (PEM).");
  flags::AddTextFlag(app, "--tls_name", line.tls.name, "NAME",
                     "Name that the sequencer's certificate must have;\n"
                     "default: that of its host.");
  flags::AddTextFlag(app, "-t,--duration", line.tests.duration, "DURATION",
                     "Traffic of each test with its warm-up, which is 3 s\n"
                     "in most patterns, in seconds or with a unit, such\n"
                     "as 2m; default: 30.");
  flags::AddRepeatedFlag(app, "-c,--prefix", line.prefixes, "PREFIX",
                         "Settings for every CONFIG, such as grpc:ipv4;\n"
                         "those of a CONFIG take precedence. May be\n"
                         "repeated.");
  flags::AddTextFlag(app, "-l,--label", line.tests.label, "LABEL",
                     "Begins file names and config_label attributes.");
  flags::AddSwitch(app, "--allow_extra", line.tests.allow_extra,
                   "Accept names that look like typing errors, and\n"
                   "sweeps over no parameter, as attributes.");
  flags::AddSwitch(app, "--allow_invalid", line.allow_invalid,
                   "Exit with 0 even if the numbers of a test are\n"
                   "false.");
  flags::AddRepeatedFlag(app, "--slo", line.objectives, "OBJECTIVE",
                         "Objective of every test, such as 'query p99<=5ms';\n"
                         "exit with 2 if one is not met. May be repeated.");
  flags::AddSwitch(app, "--allow_undecided", line.allow_undecided,
                   "Do not exit with 2 where the evidence is too thin\n"
                   "for a verdict.");
  flags::AddSwitch(app, "--verbose", line.verbose,
                   "Print the whole summary on a terminal, too.");
  flags::AddSwitch(app, "--quiet", line.quiet,
                   "Show no progress, only results, notes and\n"
                   "errors.");
  flags::AddSwitch(app, "--version", line.version,
                   "Print the version and exit.");
  flags::AddSwitch(app, "--dry_run", line.dry_run,
                   "List the tests and how long they take; write\n"
                   "and run nothing.");
  flags::AddArguments(app, "CONFIG", line.tests.configs, "CONFIG",
                      "PATTERN[:NAME=VALUE...]: what to build.");
}

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments,
    const flags::Environment& environment) {
  CommandLine line;
  line.arguments = arguments;
  std::vector<std::string> rest = arguments;
  if (const absl::Status status = TakeSweeps(rest, line.tests.sweeps);
      !status.ok()) {
    return status;
  }

  flags::ConnectionDefaults defaults(environment);
  flags::Program program(kDescription, kName);
  CLI::App& app = program.app();
  AddFlags(app, line);
  const flags::Parsed parsed = flags::Parse(app, std::move(rest));
  switch (parsed.outcome) {
    case flags::Parsed::Outcome::kHelp:
      // Whether the parse went on to the words differs between versions of
      // CLI11.
      line.tests.configs = flags::GivenTexts(app, "CONFIG");
      SetHelp(line);
      return line;
    case flags::Parsed::Outcome::kUnknownWord:
      return absl::InvalidArgumentError(ExplainExtra(app, parsed.text));
    case flags::Parsed::Outcome::kError:
      return absl::InvalidArgumentError(parsed.text);
    case flags::Parsed::Outcome::kOk:
      break;
  }
  if (!line.tests.configs.empty() && line.tests.configs.front() == "help") {
    SetHelp(line);
    return line;
  }
  if (line.version) return line;
  for (const std::string& prefix : line.prefixes) {
    absl::StrAppend(&line.tests.prefix, prefix, ":");
  }
  if (const absl::Status status = FillConnection(app, defaults, line);
      !status.ok()) {
    return status;
  }
  if (const absl::Status status = CheckUse(line); !status.ok()) return status;
  return line;
}

std::string OfAllFlags(
    const std::function<std::string(const CLI::App& app)>& text_of) {
  flags::ConnectionDefaults defaults(flags::NoEnvironment());
  CommandLine line;
  flags::Program program(kDescription, kName);
  AddFlags(program.app(), line);
  defaults.Announce(program.app());
  return text_of(program.app());
}

}  // namespace distbench::test_builder
