#include "distbench/flags/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/duration.h"

namespace distbench::flags {

namespace {

// Returns an empty string if the text is a positive duration, else the error.
std::string CheckDuration(const std::string& text) {
  const auto duration = ParseDurationOrSeconds(text);
  if (!duration.ok()) return std::string(duration.status().message());
  if (*duration > absl::ZeroDuration()) return "";
  return '"' + text + "\" is out of range; a duration must be above 0";
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

// Adds an option that takes a number in a range, which is not in the help.
template <typename Number, typename Variable>
CLI::Option& AddNumberOption(CLI::App& command, const std::string& flag,
                             Variable& variable, Number least, Number most,
                             const std::string& type,
                             const std::string& description) {
  return *command.add_option(flag, variable, description)
              ->check(CLI::Range(least, most).description(""))
              ->type_name(type);
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

std::string FlagsHelp(const CLI::App& program, size_t columns) {
  CLI::Formatter formatter;
  formatter.column_width(columns);
  return formatter.make_groups(&program, CLI::AppFormatMode::Normal);
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

// Refuses a text that begins with "--": it is the next flag after a forgotten
// value.
void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description) {
  command.add_option(flag, text, std::string(description))
      ->type_name(type)
      ->check([type](const std::string& value) {
        return absl::StartsWith(value, "--") ? "its " + type + " is missing"
                                             : "";
      });
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

void Check(CLI::App& command, const std::string& name,
           std::function<std::string(const std::string& value)> error_of) {
  command.get_option(name)->check(std::move(error_of));
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

}  // namespace distbench::flags
