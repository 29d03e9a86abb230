// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::flags {
namespace {

// Returns an empty string if the text is a positive duration, else the error.
std::string CheckDuration(const std::string& text) {
  const auto duration = ParseDurationOrSeconds(text);
  if (!duration.ok()) return std::string(duration.status().message());
  if (*duration > absl::ZeroDuration()) return "";
  return '"' + text + "\" is out of range; a duration must be above 0";
}

// The type of flags and arguments that name files.
constexpr char kFileType[] = "FILE";

// Options carry marks as names of checks that find nothing wrong: CLI11 keeps
// nothing else for its users.
constexpr char kOutputMark[] = "output";  // the command writes the file
constexpr char kTypedMark[] = "only from the command line";

void Mark(CLI::Option& option, const char* mark) {
  option.check([](const std::string&) { return std::string(); }, "", mark);
}

bool HasMark(CLI::Option& option, const char* mark) {
  try {
    option.get_validator(mark);
    return true;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

// Refuses a text that begins with "--": it is the next flag after a forgotten
// value.
CLI::Option& AddTextOption(CLI::App& command, const std::string& flag,
                           std::string& text, const std::string& type,
                           absl::string_view description) {
  return *command.add_option(flag, text, std::string(description))
              ->type_name(type)
              ->check([type](const std::string& value) {
                return absl::StartsWith(value, "--")
                           ? "its " + type + " is missing"
                           : "";
              });
}

// Adds an option that may be repeated. CLI11 would also give it the words after
// its value, such as the command's FILE.
CLI::Option& AddRepeatedOption(CLI::App& command, const std::string& flag,
                               std::vector<std::string>& texts,
                               const std::string& type,
                               absl::string_view description) {
  return *command.add_option(flag, texts, std::string(description))
              ->type_name(type)
              ->expected(1)
              ->allow_extra_args(false)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

template <typename Number>
std::string OutOfRange(const std::string& text, Number least, Number most) {
  return absl::StrCat("Value ", text, " not in range ", least, " to ", most);
}

// Adds an option that takes a number in a range, which is not in the help.
template <typename Number, typename Variable>
CLI::Option& AddNumberOption(CLI::App& command, const std::string& flag,
                             Variable& variable, Number least, Number most,
                             const std::string& type,
                             const std::string& description) {
  CLI::Option& option =
      *command.add_option(flag, variable, description)->type_name(type);
  if constexpr (std::is_floating_point_v<Number>) {
    return *option.check([least, most](const std::string& text) {
      return NumberError(text, least, most);
    });
  }
  // CLI11 takes what is negative, or too large, for another number.
  if constexpr (std::is_same_v<Number, uint64_t>) {
    option.check([](const std::string& text) {
      uint64_t number = 0;
      return absl::SimpleAtoi(text, &number)
                 ? std::string()
                 : OutOfRange(text, uint64_t{0},
                              std::numeric_limits<uint64_t>::max());
    });
  }
  return *option.check(CLI::Range(least, most).description(""));
}

}  // namespace

Program::Program(const std::string& description, const std::string& name)
    : app_(std::make_unique<CLI::App>(description, name)) {}

Program::~Program() = default;

void SetHelpFlag(CLI::App& program, const std::string& flag,
                 const std::string& description) {
  program.set_help_flag(flag, description);
}

Parsed Parse(CLI::App& program, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 expects
  try {
    program.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return {Parsed::Outcome::kHelp};
  } catch (const CLI::ExtrasError&) {
    return {Parsed::Outcome::kUnknownWord, program.remaining().front()};
  } catch (const CLI::ParseError& error) {
    return {Parsed::Outcome::kError, error.what()};
  }
  return {};
}

CLI::App& AddSubcommand(CLI::App& parent, const std::string& name,
                        const std::string& description) {
  return *parent.add_subcommand(name, description);
}

void SetFooter(CLI::App& command, const std::string& text) {
  command.footer(text);
}

void HideSubcommand(CLI::App& command) { command.group(""); }

void AllowOneSubcommand(CLI::App& command) { command.require_subcommand(0, 1); }

void AfterParsing(CLI::App& command, std::function<void()> call) {
  command.callback(std::move(call));
}

void BeforeParsing(CLI::App& command, std::function<void()> call) {
  command.preparse_callback([call = std::move(call)](size_t) { call(); });
}

void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description) {
  AddTextOption(command, flag, text, type, description);
}

void AddOutputFlag(CLI::App& command, const std::string& flag,
                   std::string& path, absl::string_view description) {
  Mark(AddTextOption(command, flag, path, kFileType, description), kOutputMark);
}

void AddChoiceFlag(CLI::App& command, const std::string& flag,
                   std::string& text, const std::vector<std::string>& choices,
                   const std::string& type, const std::string& description) {
  CLI::Option* option =
      command.add_option(flag, text, description)
          ->check(CLI::Validator(
              [choices](std::string& value) -> std::string {
                if (std::find(choices.begin(), choices.end(), value) !=
                    choices.end()) {
                  return "";
                }
                return absl::StrCat("there is no ", config::Quoted(value), "; ",
                                    config::Suggestion(value, choices));
              },
              ""))
          ->type_name(type);
  if (!text.empty()) option->capture_default_str();
}

void AddSwitch(CLI::App& command, const std::string& flag, bool& is_set,
               const std::string& description) {
  command.add_flag(flag, is_set, description);
}

void AddBoolFlag(CLI::App& command, const std::string& flag, bool& value,
                 const std::string& description) {
  command.add_option(flag, value, description)
      ->type_name("true|false")
      ->default_str(value ? "true" : "false");
}

template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag, Number& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description) {
  CLI::Option& option =
      AddNumberOption(command, flag, number, least, most, type, description);
  if (number >= least && number <= most) option.capture_default_str();
}

template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag,
                   std::optional<Number>& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description) {
  AddNumberOption(command, flag, number, least, most, type, description);
}

template void AddNumberFlag(CLI::App&, const std::string&, int&, int, int,
                            const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&, int64_t&, int64_t,
                            int64_t, const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&, uint64_t&, uint64_t,
                            uint64_t, const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&, double&, double,
                            double, const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&, std::optional<int>&,
                            int, int, const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&,
                            std::optional<int64_t>&, int64_t, int64_t,
                            const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&,
                            std::optional<uint64_t>&, uint64_t, uint64_t,
                            const std::string&, const std::string&);
template void AddNumberFlag(CLI::App&, const std::string&,
                            std::optional<double>&, double, double,
                            const std::string&, const std::string&);

void AddArgument(CLI::App& command, const std::string& name, std::string& text,
                 const std::string& type, const std::string& description) {
  command.add_option(name, text, description)
      ->type_name(type)
      ->option_text(" ");
}

void AddArguments(CLI::App& command, const std::string& name,
                  std::vector<std::string>& texts, const std::string& type,
                  const std::string& description) {
  command.add_option(name, texts, description)
      ->type_name(type)
      ->option_text(" ");
}

void KeepLastArguments(CLI::App& command) {
  command.positionals_at_end();
  // CLI11 takes all words for arguments from the first one on.
  for (CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    option->check([](const std::string& word) -> std::string {
      const bool is_flag = absl::StartsWith(word, "--") || word == "-h";
      return is_flag ? word + " must come before the arguments" : "";
    });
  }
}

void Require(CLI::App& command, const std::string& name, bool is_required) {
  command.get_option(name)->required(is_required);
}

void Exclude(CLI::App& command, const std::string& name,
             const std::string& other) {
  command.get_option(name)->excludes(command.get_option(other));
}

void AddRepeatedFlag(CLI::App& command, const std::string& flag,
                     std::vector<std::string>& texts, const std::string& type,
                     absl::string_view description) {
  AddRepeatedOption(command, flag, texts, type, description);
}

void AddListFlag(CLI::App& command, const std::string& flag,
                 std::vector<std::string>& texts, const std::string& type,
                 absl::string_view description) {
  AddRepeatedOption(command, flag, texts, type, description).delimiter(',');
}

void AddNamesFlag(CLI::App& command, const std::string& flag,
                  std::vector<std::string>& names,
                  absl::string_view description) {
  AddListFlag(command, flag, names, "NAME[,NAME...]", description);
  Check(command, flag, [](const std::string& name) {
    return name.empty() || absl::StartsWith(name, "--") ? "its NAME is missing"
                                                        : "";
  });
}

void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description) {
  command
      .add_option_function<std::string>(
          flag,
          [&duration](const std::string& text) {
            duration =
                ParseDurationOrSeconds(text).value_or(absl::ZeroDuration());
          },
          std::string(description))
      ->check(CheckDuration)
      ->type_name("DURATION");
}

// CLI11's range would have NaN in it, and six decimals of its limits in its
// error.
std::string NumberError(const std::string& text, double least, double most) {
  double number = 0;
  const bool is_inside =
      absl::SimpleAtod(text, &number) && number >= least && number <= most;
  return is_inside ? "" : OutOfRange(text, least, most);
}

void Check(CLI::App& command, const std::string& name,
           std::function<std::string(const std::string& value)> error_of) {
  command.get_option(name)->check(std::move(error_of));
}

void TakeOnlyFromCommandLine(CLI::App& command, const std::string& flag) {
  Mark(*command.get_option(flag), kTypedMark);
}

bool IsOnlyFromCommandLine(CLI::App& command, const std::string& flag) {
  return HasMark(*command.get_option(flag), kTypedMark);
}

void ShowDefault(CLI::App& command, const std::string& name) {
  command.get_option(name)->capture_default_str();
}

void AppendToDescription(CLI::App& command, const std::string& name,
                         absl::string_view text) {
  CLI::Option* option = command.get_option(name);
  option->description(absl::StrCat(option->get_description(), text));
}

absl::Status GiveValue(CLI::App& command, const std::string& name,
                       const std::string& value) {
  CLI::Option* option = command.get_option(name);
  try {
    option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    // It begins with the flag's name.
    const std::string what = error.what();
    return absl::InvalidArgumentError(
        absl::StripPrefix(what, absl::StrCat(option->get_name(), ": ")));
  }
  return absl::OkStatus();
}

// ---- Durations --------------------------------------------------------------

namespace {

bool IsPlainNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c) || c == '.';
  });
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationOrSeconds(absl::string_view text) {
  return IsPlainNumber(text)
             ? config::ParseDurationWithUnit(absl::StrCat(text, "s"))
             : config::ParseDurationWithUnit(text);
}

// ---- The command line as a tree ---------------------------------------------

bool IsFileType(absl::string_view type) {
  return type == kFileType || type == "RESULT";
}

namespace {

// CLI11's type of any text, which says nothing about the value.
constexpr char kAnyText[] = "TEXT";

std::string TypeOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const bool says_nothing = type.empty() || type == kAnyText;
  return says_nothing && option.get_positional() ? option.get_name(true) : type;
}

Flag Described(const CLI::Option& option) {
  return {
      .short_names = option.get_snames(),
      .long_names = option.get_lnames(),
      .argument_name = option.get_positional() ? option.get_name(true) : "",
      .type = TypeOf(option),
      .description = option.get_description(),
      .default_value = option.get_default_str(),
      .most_values = option.get_items_expected_max(),
      .is_required = option.get_required(),
  };
}

// Of those that users see, the arguments or the others.
std::vector<Flag> Visible(const CLI::App& command, bool arguments) {
  std::vector<Flag> found;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const bool is_wanted =
        arguments ? option->get_positional() : option->nonpositional();
    if (is_wanted) found.push_back(Described(*option));
  }
  return found;
}

}  // namespace

std::vector<const CLI::App*> CommandsOf(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<CLI::App*> AllCommandsOf(CLI::App& command) {
  return command.get_subcommands(std::function<bool(CLI::App*)>());
}

const CLI::App* FindCommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : CommandsOf(command)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

const CLI::App* ParentOf(const CLI::App& command) {
  return command.get_parent();
}

std::string NameOf(const CLI::App& command) { return command.get_name(); }

std::string FullName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string before = FullName(*parent);
  return before.empty() ? command.get_name()
                        : absl::StrCat(before, " ", command.get_name());
}

std::string DescriptionOf(const CLI::App& command) {
  return command.get_description();
}

std::string FooterOf(const CLI::App& command) { return command.get_footer(); }

std::string TrailingUsage(const CLI::App& command) {
  const bool has_flag =
      command.get_option_no_throw(kTrailingCommandFlag) != nullptr;
  return has_flag ? " [-- COMMAND...]" : "";
}

std::vector<Flag> FlagsOf(const CLI::App& command) {
  return Visible(command, /*arguments=*/false);
}

std::vector<Flag> ArgumentsOf(const CLI::App& command) {
  return Visible(command, /*arguments=*/true);
}

std::vector<std::string> LongNamesOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& own = option->get_lnames();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

std::vector<NamedFile> FilesNamedIn(CLI::App& command) {
  std::vector<NamedFile> files;
  for (CLI::App* owner = &command; owner != nullptr;
       owner = owner->get_parent()) {
    for (CLI::Option* option : owner->get_options()) {
      if (!IsFileType(TypeOf(*option))) continue;
      for (const std::string& path : option->results()) {
        files.push_back(
            {option->get_name(), path, HasMark(*option, kOutputMark)});
      }
    }
  }
  return files;
}

bool IsGiven(const CLI::App& command, const std::string& flag) {
  return command.get_option(flag)->count() > 0;
}

std::string GivenText(const CLI::App& command, const std::string& flag) {
  const std::vector<std::string> texts = GivenTexts(command, flag);
  return texts.empty() ? "" : texts.front();
}

std::vector<std::string> GivenTexts(const CLI::App& command,
                                    const std::string& name) {
  return command.get_option(name)->results();
}

}  // namespace distbench::flags
