// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/version.h"
#include "distbench/cli/command.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/named_files.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"
#include "distbench/flags/help_text.h"
#include "distbench/report/findings/findings.h"

namespace distbench::cli {
namespace {

constexpr char kDescription[] =
    "Runs distributed RPC traffic patterns and measures their latency. A test\n"
    "sequencer hands tests to node managers, one or more per host, which run\n"
    "them.";

constexpr char kFooter[] = R"(Example on four hosts:
  host1$ distbench test_sequencer --port=10000
  host2$ distbench node_manager --test_sequencer=host1:10000
  host3$ distbench node_manager --test_sequencer=host1:10000
  host4$ distbench run_tests --test_sequencer=host1:10000 --infile=test.config

Exit status: 0 success, 1 usage or config error before any traffic, 2 an
objective was not met, 3 a run failed or its results are invalid.

)";

// Begins each of the words after "--" in the value of kTrailingCommandFlag.
// CLI11 would take the words for arguments of the command itself. The value is
// one text, because CLI11 looks for lists in the values of options that have
// several; and it begins with a mark, so that it never looks like a flag.
constexpr char kWordMark = '\0';

// Replaces "--" and what follows it by that flag, if the command has it.
std::vector<std::string> TakeTrailingCommand(
    const CLI::App& app, std::vector<std::string> arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.begin() || dashes == arguments.end()) {
    return arguments;
  }
  const std::vector<const CLI::App*> commands =
      app.get_subcommands([&](const CLI::App* command) {
        return command->get_name() == arguments.front() &&
               !flags::TrailingUsage(*command).empty();
      });
  if (commands.empty()) {
    return arguments;
  }
  std::string words;
  for (auto word = dashes + 1; word != arguments.end(); ++word) {
    words.push_back(kWordMark);
    words.append(*word);
  }
  arguments.erase(dashes, arguments.end());
  if (words.empty()) return arguments;
  arguments.push_back(flags::kTrailingCommandFlag);
  arguments.push_back(std::move(words));
  return arguments;
}

bool IsFlag(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-';
}

// Makes an empty value an argument of its own: CLI11 takes "--outfile=" for a
// flag whose value follows.
std::vector<std::string> SplitEmptyValues(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> split;
  for (const std::string& argument : arguments) {
    if (IsFlag(argument) && argument.find('=') == argument.size() - 1) {
      split.push_back(argument.substr(0, argument.size() - 1));
      split.emplace_back();
    } else {
      split.push_back(argument);
    }
  }
  return split;
}

// Returns the long names of a command's flags, without dashes and without those
// that are hidden from users.
std::vector<std::string> FlagNamesOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::vector<std::string>& names = option->get_lnames();
    flags.insert(flags.end(), names.begin(), names.end());
  }
  return flags;
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// Returns the full names of all subcommands, at any depth, that have the flag.
std::vector<std::string> CommandsWithFlag(const CLI::App& app,
                                          const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::App* command : flags::CommandsOf(app)) {
    const std::vector<std::string> flags = FlagNamesOf(*command);
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) {
      names.push_back(flags::FullName(*command));
    }
    const std::vector<std::string> below = CommandsWithFlag(*command, flag);
    names.insert(names.end(), below.begin(), below.end());
  }
  return names;
}

// Whether the command, or one below it, has such a flag without a value.
bool IsSwitch(const CLI::App& command, const std::string& name) {
  for (const flags::Flag& flag : flags::FlagsOf(command)) {
    const auto& names = flag.long_names;
    if (flag.most_values == 0 &&
        std::find(names.begin(), names.end(), name) != names.end()) {
      return true;
    }
  }
  for (const CLI::App* below : flags::CommandsOf(command)) {
    if (IsSwitch(*below, name)) return true;
  }
  return false;
}

// `flag` has its dashes and no value.
std::string ExplainFlag(const CLI::App& app, const CLI::App& command,
                        const std::string& flag) {
  std::string name = flag;
  name.erase(0, name.find_first_not_of('-'));  // a flag of dashes only: all
  const std::vector<std::string> owners = CommandsWithFlag(app, name);
  if (!owners.empty() && &command != &app) {
    return absl::StrCat(flag, " is not a flag of ", flags::FullName(command),
                        ", but of ", absl::StrJoin(owners, ", "));
  }
  if (!owners.empty()) {
    return absl::StrCat(flag, " is a flag of ", absl::StrJoin(owners, ", "),
                        ", and comes after the subcommand's name");
  }
  const std::optional<std::string> meant =
      config::ClosestName(name, FlagNamesOf(command));
  return absl::StrCat(
      "unknown flag ", flag,
      meant ? absl::StrCat("; did you mean --", *meant, "?") : "");
}

// Explains an argument that no subcommand accepts.
std::string ExplainExtra(const CLI::App& app, const CLI::App& command,
                         const std::string& argument) {
  if (IsFlag(argument)) {
    return ExplainFlag(app, command, argument.substr(0, argument.find('=')));
  }
  const std::vector<std::string> commands = NamesOf(flags::CommandsOf(command));
  if (!commands.empty()) {
    return absl::StrCat("unknown subcommand ", config::Quoted(argument), "; ",
                        config::Suggestion(argument, commands));
  }
  return absl::StrCat("unexpected argument ", config::Quoted(argument));
}

// Returns the innermost subcommand that the user named, or the app itself.
template <typename App>
App& NamedCommand(App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : NamedCommand<App>(*named.front());
}

// Explains the first argument that no subcommand accepts.
std::string ExplainExtras(const CLI::App& app) {
  const CLI::App& named = NamedCommand(app);
  for (const CLI::App* command = &app;;) {
    const std::vector<std::string> extras = command->remaining();
    if (!extras.empty()) return ExplainExtra(app, *command, extras.front());
    if (command == &named) return "unexpected argument";
    command = command->get_subcommands().front();
  }
}

int Refuse(const CLI::App& app, const std::string& message) {
  const std::string name = flags::FullName(NamedCommand(app));
  const std::string separator = name.empty() ? "" : " ";
  std::cerr << "distbench" << separator << name << ": " << message
            << "\nSee: distbench help" << separator << name << '\n';
  return report::kExitUsage;
}

int PrintHelp(const CLI::App& command) {
  std::cout << flags::HelpText(command);
  return report::kExitOk;
}

// Prints the help of a subcommand; `words` are its name and its parents',
// outermost first. Errors of hidden subcommands refer to their help, too.
int Explain(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const auto found = command->get_subcommands(
        [&word](const CLI::App* sub) { return sub->get_name() == word; });
    if (found.empty()) {
      const std::vector<std::string> names =
          NamesOf(flags::CommandsOf(*command));
      const std::string owner = flags::FullName(*command);
      return Refuse(app,
                    absl::StrCat(owner.empty() ? "there is no subcommand "
                                               : owner + " has no subcommand ",
                                 config::Quoted(word), "; ",
                                 config::Suggestion(word, names)));
    }
    command = found.front();
  }
  return PrintHelp(*command);
}

void AddHelpCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* help =
      app.add_subcommand("help", "Explains a subcommand, or lists all of them");
  help->footer("Example:\n  distbench help run_tests");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("COMMAND", *words, "The subcommand to explain")
      ->option_text(" ");
  help->callback([&app, words, &chosen] {
    chosen = [&app, words] { return Explain(app, *words); };
  });
}

// Fills in what the command line leaves out, and runs the command.
int RunChosen(CLI::App& app, flags::ConnectionDefaults& defaults,
              const CommandBody& body) {
  const absl::Status filled = defaults.Fill(NamedCommand(app));
  if (!filled.ok()) return Refuse(app, std::string(filled.message()));
  const absl::Status distinct = CheckNamedFiles(NamedCommand(app));
  if (!distinct.ok()) return Refuse(app, std::string(distinct.message()));
  // Users may wonder about flags that they did not type.
  SetErrorHelp(
      [&](absl::string_view error) { return defaults.Explain(error); });
  const absl::StatusOr<int> ended = body();
  const int exit_code =
      ended.ok() ? *ended : Fail(ended.status(), report::kExitUsage);
  SetErrorHelp(nullptr);
  return exit_code;
}

// What else could give a flag that is missing.
std::string Remedy(const CLI::App& app) {
  for (const CLI::Option* option : NamedCommand(app).get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    // CLI11 complains about the first.
    const std::string variable = flags::VariableOf(option->get_single_name());
    return variable.empty() ? "" : absl::StrCat("; ", variable, " can set it");
  }
  return "";
}

}  // namespace

void AddTrailingCommand(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option_function<std::string>(
          flags::kTrailingCommandFlag,
          [&words](const std::string& text) {
            words = absl::StrSplit(text, kWordMark);
            words.erase(words.begin());  // before the first mark
          })
      ->group("");  // not shown in the help
}

int RunCommandLine(std::vector<Command> commands,
                   std::vector<std::string> arguments,
                   const flags::Environment& environment) {
  flags::ConnectionDefaults defaults(environment);
  CLI::App app(kDescription, "distbench");
  // Also of subcommands.
  app.formatter_fn([](const CLI::App* command, auto&&...) {
    return flags::HelpText(*command);
  });
  app.footer(absl::StrCat(kFooter, flags::ConnectionDefaultsHelp()));
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", base::VersionText(),
                       "Print the version and exit");
  std::stable_sort(commands.begin(), commands.end(),
                   [](const Command& left, const Command& right) {
                     return left.section < right.section;
                   });
  CommandBody chosen;
  for (const Command& command : commands) command.add(app, chosen);
  AddHelpCommand(app, chosen);
  defaults.Announce(app);

  const auto has_flag = [&app](const std::string& flag) {
    return !CommandsWithFlag(app, flag).empty();
  };
  const auto is_switch = [&](const std::string& flag) {
    for (const CLI::App* command : flags::CommandsOf(app)) {
      if (!arguments.empty() && command->get_name() == arguments[0]) {
        return IsSwitch(*command, flag);
      }
    }
    return false;
  };
  const auto address_of = [](const std::string& device) {
    return AddressOfDevice(device);
  };
  absl::StatusOr<TranslatedFlags> flags =
      TranslateLegacyFlags(arguments, {has_flag, is_switch, address_of});
  if (!flags.ok()) return Refuse(app, std::string(flags.status().message()));
  for (const std::string& note : flags->notes) {
    std::cerr << "distbench: " << note << '\n';
  }
  arguments =
      SplitEmptyValues(TakeTrailingCommand(app, std::move(flags->arguments)));
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 expects
  try {
    app.parse(arguments);
  } catch (const CLI::Success& help_or_version) {
    // Help on a subcommand that there is not would be that on all of them.
    const CLI::App& named = NamedCommand(app);
    if (!flags::CommandsOf(named).empty() && named.remaining_size() > 0) {
      return Refuse(app, ExplainExtras(app));
    }
    return app.exit(help_or_version);
  } catch (const CLI::ExtrasError&) {
    return Refuse(app, ExplainExtras(app));
  } catch (const CLI::RequiredError& error) {
    // What is missing may be what was misspelt.
    if (app.remaining_size(/*recurse=*/true) > 0) {
      return Refuse(app, ExplainExtras(app));
    }
    return Refuse(app, absl::StrCat(error.what(), Remedy(app)));
  } catch (const CLI::ParseError& error) {
    return Refuse(app, error.what());
  }
  if (chosen != nullptr) return RunChosen(app, defaults, chosen);
  // No subcommand was named, or one without the nested subcommand that it
  // needs.
  return PrintHelp(NamedCommand(app));
}

absl::StatusOr<std::string> OwnProgram() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) {
    return absl::NotFoundError(
        "cannot find distbench's own binary through /proc/self/exe");
  }
  return std::string(path, length);
}

// ---- Flags as existing scripts write them -----------------------------------

namespace {

constexpr char kControlDevice[] = "--control_plane_device";
constexpr char kDataDevice[] = "--default_data_plane_device";
constexpr char kPreferIpv4[] = "prefer_ipv4";
constexpr absl::string_view kNegation = "no";

std::string NameOf(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

// Whether the argument is a flag with one dash and a name. Those of one letter
// have one dash in distbench, too.
bool HasOneDash(const std::string& argument) {
  return argument.size() > 2 && argument[0] == '-' && argument[1] != '-' &&
         argument[2] != '=';
}

// The value of the flag at this position, which moves to its last argument.
// Empty if there is none.
std::string ValueAt(const std::vector<std::string>& arguments, size_t& i) {
  const size_t equals = arguments[i].find('=');
  if (equals != std::string::npos) return arguments[i].substr(equals + 1);
  return i + 1 < arguments.size() ? arguments[++i] : "";
}

absl::Status TakeDevice(const std::string& name, const std::string& device,
                        bool is_node, const LegacyFlagFacts& facts,
                        TranslatedFlags& translated) {
  if (device.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has no value; name a network device"));
  }
  const absl::StatusOr<std::string> address = facts.address_of(device);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", address.status().message()));
  }
  if (is_node && name == kControlDevice) {
    translated.notes.push_back(
        absl::StrCat(name,
                     " is left out: nothing connects to a node manager, "
                     "except to the services of tests"));
    return absl::OkStatus();
  }
  if (!is_node && name == kDataDevice) {
    translated.notes.push_back(absl::StrCat(
        name,
        " is left out: it is for node managers; tests choose a device by "
        "netdev_name of their protocol driver options"));
    return absl::OkStatus();
  }
  const char* flag =
      name == kControlDevice ? "--listen=" : "--service_address=";
  translated.arguments.push_back(absl::StrCat(flag, *address));
  translated.notes.push_back(
      absl::StrCat(name, " is taken for ", flag, *address));
  return absl::OkStatus();
}

// "--flag=false" if the argument is "--noflag", where "flag" takes no value;
// otherwise the argument.
std::string WithoutNegation(const std::string& argument,
                            const LegacyFlagFacts& facts) {
  absl::string_view name = argument;
  if (!absl::ConsumePrefix(&name, "--") || facts.has_flag(std::string(name)) ||
      !absl::ConsumePrefix(&name, kNegation) ||
      !(name == kPreferIpv4 || facts.is_switch(std::string(name)))) {
    return argument;
  }
  return absl::StrCat("--", name, "=false");
}

// The default is what distbench does, too.
void TakePreferIpv4(const std::string& argument, TranslatedFlags& translated) {
  if (argument.ends_with("=false")) return;
  translated.notes.push_back(
      absl::StrCat(NameOf(argument),
                   " is left out: tests choose IPv4 by ip_version of their "
                   "protocol driver options"));
}

}  // namespace

absl::StatusOr<TranslatedFlags> TranslateLegacyFlags(
    const std::vector<std::string>& arguments, const LegacyFlagFacts& facts) {
  TranslatedFlags translated;
  const bool is_node = !arguments.empty() && arguments[0] == "node_manager";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      translated.arguments.insert(translated.arguments.end(),
                                  arguments.begin() + i, arguments.end());
      break;
    }
    std::string argument = arguments[i];
    if (HasOneDash(argument) && facts.has_flag(NameOf(argument).substr(1))) {
      argument.insert(0, "-");
    }
    argument = WithoutNegation(argument, facts);
    const std::string name = NameOf(argument);
    if (name == kControlDevice || name == kDataDevice) {
      const std::string device = ValueAt(arguments, i);
      const absl::Status status =
          TakeDevice(name, device, is_node, facts, translated);
      if (!status.ok()) return status;
    } else if (name == absl::StrCat("--", kPreferIpv4)) {
      TakePreferIpv4(argument, translated);
    } else {
      translated.arguments.push_back(name == "--helpfull" ? "--help"
                                                          : argument);
    }
  }
  return translated;
}

}  // namespace distbench::cli
