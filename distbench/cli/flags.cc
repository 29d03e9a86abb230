#include "distbench/cli/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/duration.h"

namespace distbench::cli {

namespace {

// Returns an empty string if the text is a positive duration, else the error.
std::string CheckDuration(const std::string& text) {
  const auto duration = flags::ParseDurationOrSeconds(text);
  if (!duration.ok()) return std::string(duration.status().message());
  if (*duration > absl::ZeroDuration()) return "";
  return '"' + text + "\" is out of range; a duration must be above 0";
}

// Returns an empty string if the text is "HOST:PORT", else the error.
std::string CheckHostAndPort(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(text.substr(colon + 1), &port) && port > 0 &&
      port <= base::kMaxPort) {
    return "";
  }
  return '"' + text +
         "\" is not HOST:PORT, such as localhost:10000 or [::1]:10000";
}

// Adds an option that takes any text except one that begins with "--", which is
// the next flag after a forgotten value.
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

void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description) {
  AddTextOption(command, flag, text, type, description);
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

void Require(CLI::App& command, const std::string& name) {
  command.get_option(name)->required();
}

void Exclude(CLI::App& command, const std::string& name,
             const std::string& other) {
  command.get_option(name)->excludes(command.get_option(other));
}

void AddPortFlag(CLI::App& command, int& port, absl::string_view description) {
  AddNumberFlag(command, "--port", port, 0, base::kMaxPort, "PORT",
                std::string(description));
}

void AddTestSequencerFlag(CLI::App& command, std::string& address) {
  AddTextOption(command, "--test_sequencer", address, "HOST:PORT",
                "Address of the test sequencer")
      .required()
      ->check(CheckHostAndPort);
}

void AddTlsFlags(CLI::App& command, security::TlsFiles& files) {
  AddTextFlag(command, "--tls_ca", files.ca, "FILE",
              "CA that must have signed the peers' certificates (PEM),\n"
              "such as /etc/distbench/ca.crt");
  AddTextFlag(command, "--tls_cert", files.cert, "FILE",
              "Own certificate (PEM), such as host1.crt");
  AddTextFlag(command, "--tls_key", files.key, "FILE",
              "Private key of that certificate (PEM), such as host1.key");
  AddTextFlag(command, "--tls_name", files.name, "NAME",
              "Name that the sequencer's certificate must have; default: that\n"
              "of its host");
}

void AddRepeatedFlag(CLI::App& command, const std::string& flag,
                     std::vector<std::string>& texts, const std::string& type,
                     absl::string_view description) {
  AddRepeatedOption(command, flag, texts, type, description);
}

void AddNamesFlag(CLI::App& command, const std::string& flag,
                  std::vector<std::string>& names,
                  absl::string_view description) {
  AddRepeatedOption(command, flag, names, "NAME[,NAME...]", description)
      .delimiter(',')
      ->check([](const std::string& name) {
        return name.empty() || absl::StartsWith(name, "--")
                   ? "its NAME is missing"
                   : "";
      });
}

void AddGuardFlags(CLI::App& command, security::GuardFlagValues& values) {
  for (const auto& [name, guard] : base::Plugins<security::GuardFlag>::All()) {
    AddRepeatedOption(command, guard->flag(), values[guard->flag()],
                      guard->type(), guard->description())
        .delimiter(',');
  }
}

void AddListenFlag(CLI::App& command, std::string& address,
                   absl::string_view description) {
  AddTextFlag(command, "--listen", address, "ADDRESS", description);
}

void AddMetricsPortFlag(CLI::App& command, std::optional<int>& port) {
  AddNumberFlag(command, "--metrics_port", port, 0, base::kMaxPort, "PORT",
                "Serve metrics to Prometheus on this port, without TLS;\n"
                "0 picks a free port and prints it; default: no metrics");
}

void AddInfileFlag(CLI::App& command, std::string& infile) {
  AddTextOption(command, "--infile", infile, "FILE",
                "The tests, as text or binary; - reads standard input")
      .capture_default_str();
}

void AddInfileArgument(CLI::App& command, std::string& infile) {
  // Its name on the command line differs from that of the variable's flag.
  AddTextOption(command, "FILE", infile, "FILE", "The same as --infile=FILE")
      .excludes(command.get_option("--infile"))
      ->option_text(" ");
}

void AddQuietFlag(CLI::App& command, bool& quiet) {
  AddSwitch(command, "--quiet", quiet,
            "Show no progress, only results, warnings and errors");
}

void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description) {
  command
      .add_option_function<std::string>(
          flag,
          [&duration](const std::string& text) {
            duration = flags::ParseDurationOrSeconds(text).value_or(
                absl::ZeroDuration());
          },
          std::string(description))
      ->check(CheckDuration)
      ->type_name("DURATION");
}

}  // namespace distbench::cli
