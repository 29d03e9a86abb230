#include "test_builder/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/connection_defaults.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

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
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& flag : option->get_lnames()) {
      flags.push_back(absl::StrCat("--", flag));
    }
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
  const bool names_sequencer = app.get_option("--test_sequencer")->count() > 0;
  const bool names_tls = !line.tls.empty() || !line.tls.name.empty();
  const absl::Status status = defaults.Fill(app);
  if (!status.ok()) return status;
  if (!names_sequencer && line.output == "-") line.sequencer.clear();
  if (line.sequencer.empty() && !names_tls) line.tls = {};
  if (!line.sequencer.empty()) line.filled = defaults.Filled();
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
  app.set_help_flag("-h,--help", "Print this help, or that of a pattern.");
  app.add_option("-o,--output", line.output,
                 "Directory for configs and results, made if\n"
                 "it is missing; '-', the default: print configs.")
      ->type_name("DIR");
  app.add_option("-s,--test_sequencer", line.sequencer,
                 "Run the tests at this sequencer; needs -o DIR.")
      ->type_name("HOST:PORT");
  app.add_option("--tls_ca", line.tls.ca,
                 "CA that signed the sequencer's certificate (PEM);\n"
                 "without it, TLS is not used.")
      ->type_name("FILE");
  app.add_option("--tls_cert", line.tls.cert,
                 "Certificate to show to the sequencer (PEM).")
      ->type_name("FILE");
  app.add_option("--tls_key", line.tls.key,
                 "The certificate's private key (PEM).")
      ->type_name("FILE");
  app.add_option("--tls_name", line.tls.name,
                 "Name that the sequencer's certificate must have;\n"
                 "default: that of its host.")
      ->type_name("NAME");
  app.add_option("-t,--duration", line.tests.duration,
                 "Traffic of each test, in seconds or with a unit,\n"
                 "such as 2m; default: 30.")
      ->type_name("DURATION");
  app.add_option("-c,--prefix", line.prefixes,
                 "Settings for every CONFIG, such as grpc:ipv4;\n"
                 "those of a CONFIG take precedence. May be\n"
                 "repeated.")
      ->type_name("PREFIX")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("-l,--label", line.tests.label,
                 "Begins file names and config_label attributes.")
      ->type_name("LABEL");
  app.add_flag("--allow_extra", line.tests.allow_extra,
               "Accept names that look like typing errors as\n"
               "attributes.");
  app.add_flag("--allow_invalid", line.allow_invalid,
               "Exit with 0 even if the numbers of a test are\n"
               "false.");
  app.add_option("--slo", line.objectives,
                 "Objective of every test, such as 'query p99<=5ms';\n"
                 "exit with 2 if one is not met. May be repeated.")
      ->type_name("OBJECTIVE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--allow_undecided", line.allow_undecided,
               "Do not exit with 2 where the evidence is too thin\n"
               "for a verdict.");
  app.add_flag("--verbose", line.verbose,
               "Print the whole summary on a terminal, too.");
  app.add_flag("--quiet", line.quiet,
               "Show no progress, only results, notes and\n"
               "errors.");
  app.add_flag("--version", line.version, "Print the version and exit.");
  app.add_flag("--dry_run", line.dry_run,
               "List the tests and how long they take; write\n"
               "and run nothing.");
  app.add_option("CONFIG", line.tests.configs,
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
  CLI::App app;
  AddFlags(app, line);
  std::reverse(rest.begin(), rest.end());
  try {
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    SetHelp(line);
    return line;
  } catch (const CLI::ExtrasError&) {
    return absl::InvalidArgumentError(
        ExplainExtra(app, app.remaining().front()));
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
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

std::string FlagHelp() {
  flags::ConnectionDefaults defaults(flags::NoEnvironment());
  CLI::App app;
  CommandLine line;
  AddFlags(app, line);
  defaults.Announce(app);
  CLI::Formatter formatter;
  formatter.column_width(28);
  return formatter.make_groups(&app, CLI::AppFormatMode::Normal);
}

std::string FlagManPage(const flags::ManPageOptions& options) {
  flags::ConnectionDefaults defaults(flags::NoEnvironment());
  CommandLine line;
  CLI::App app("Writes tests from patterns, and runs them.", "test_builder");
  AddFlags(app, line);
  defaults.Announce(app);
  return flags::ManPage(app, options);
}

namespace {

// The parameters of the pattern and the protocol that a CONFIG names, and of
// every test.
std::vector<Parameter> ParametersOf(const std::string& config) {
  std::vector<Parameter> parameters;
  const Protocol* protocol = FindProtocol(kDefaultProtocol);
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(config, ':'))) {
    if (const Pattern* pattern = FindPattern(part)) {
      parameters = Joined({parameters, pattern->parameters});
    } else if (const Protocol* named = FindProtocol(part)) {
      protocol = named;
    }
  }
  return Joined({parameters, protocol->parameters, CommonParameters()});
}

std::vector<flags::Candidate> PatternCandidates() {
  std::vector<flags::Candidate> candidates;
  for (const Pattern& pattern : AllPatterns()) {
    candidates.push_back({pattern.name, pattern.summary});
  }
  return candidates;
}

// What may stand between two colons; `stays` is what is before it.
std::vector<flags::Candidate> SettingCandidates(const std::string& stays) {
  std::vector<flags::Candidate> candidates;
  for (const Protocol& protocol : AllProtocols()) {
    candidates.push_back({stays + protocol.name, protocol.summary});
  }
  for (const char* version : {"ipv4", "ipv6"}) {
    candidates.push_back({stays + version, "IP version of the traffic"});
  }
  for (const Parameter& parameter : ParametersOf(stays)) {
    candidates.push_back(
        {absl::StrCat(stays, parameter.name, "="), parameter.meaning});
  }
  return candidates;
}

// The names of all parameters, which a sweep may vary. Of those with the same
// name, the first describes them.
std::vector<flags::Candidate> SweepCandidates() {
  std::vector<Parameter> parameters = CommonParameters();
  for (const Pattern& pattern : AllPatterns()) {
    parameters = Joined({parameters, pattern.parameters});
  }
  for (const Protocol& protocol : AllProtocols()) {
    parameters = Joined({parameters, protocol.parameters});
  }
  std::vector<flags::Candidate> candidates;
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name).second) continue;
    candidates.push_back({parameter.name, parameter.meaning});
  }
  return candidates;
}

std::vector<flags::Candidate> Values(const flags::ValueRequest& request) {
  const bool names_sweep =
      !request.words.empty() && request.words.back() == kSweepWord;
  if (request.type == "CONFIG" && names_sweep) return SweepCandidates();
  if (request.type == "CONFIG") {
    std::vector<flags::Candidate> candidates = ConfigCandidates(request.typed);
    if (request.typed.find(':') == std::string::npos) {
      candidates.push_back({kSweepWord, "NAME START STEP END: a range"});
      candidates.push_back({"help", "explains a pattern or a protocol"});
    }
    return candidates;
  }
  if (request.type == "PREFIX") {
    return SettingCandidates(
        request.typed.substr(0, request.typed.rfind(':') + 1));
  }
  if (request.type == "HOST:PORT") {
    const std::string address =
        flags::ConnectionDefaults(flags::ProcessEnvironment())
            .ValueOf("test_sequencer");
    if (!address.empty()) return {{address}};
  }
  return {};
}

}  // namespace

std::vector<flags::Candidate> ConfigCandidates(const std::string& typed) {
  const size_t colon = typed.rfind(':');
  if (colon == std::string::npos) return PatternCandidates();
  const std::string stays = typed.substr(0, colon + 1);
  const size_t equals = typed.find('=', colon);
  if (equals == std::string::npos) return SettingCandidates(stays);
  const std::string name = typed.substr(colon + 1, equals - colon - 1);
  std::vector<flags::Candidate> candidates;
  for (const Parameter& parameter : ParametersOf(stays)) {
    if (parameter.name != name) continue;
    for (const std::string& choice : parameter.choices) {
      candidates.push_back({typed.substr(0, equals + 1) + choice});
    }
  }
  return candidates;
}

flags::Completion CompleteTestBuilder(std::vector<std::string> words) {
  CommandLine line;
  CLI::App app;
  AddFlags(app, line);
  return flags::Complete(app, std::move(words), Values);
}

}  // namespace distbench::test_builder
