#include "distbench/cli/flags.h"

#include <CLI/CLI.hpp>

namespace distbench {

namespace {

constexpr int kMaxPort = 65535;

// An empty string if the text is a positive duration; else what is wrong.
std::string CheckDuration(const std::string& text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration > absl::ZeroDuration()) {
    return "";
  }
  return '"' + text +
         "\" is not a positive duration; write it with its unit, such as 130s, "
         "2m or 1h30m";
}

}  // namespace

void AddPortFlag(CLI::App& command, int& port, absl::string_view description) {
  command.add_option("--port", port, std::string(description))
      ->check(CLI::Range(0, kMaxPort).description(""))
      ->type_name("PORT")
      ->capture_default_str();
}

void AddTestSequencerFlag(CLI::App& command, std::string& address) {
  command
      .add_option("--test_sequencer", address,
                  "Where the test sequencer listens")
      ->type_name("HOST:PORT")
      ->required();
}

void AddInfileFlag(CLI::App& command, std::string& infile) {
  command
      .add_option("--infile", infile,
                  "The tests: a TestSequence as text or binary; \"-\" is "
                  "standard input")
      ->type_name("FILE")
      ->capture_default_str();
}

void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description) {
  command
      .add_option_function<std::string>(
          flag,
          [&duration](const std::string& text) {
            absl::ParseDuration(text, &duration);
          },
          std::string(description))
      ->check(CheckDuration)
      ->type_name("DURATION");
}

}  // namespace distbench
