#include "test_builder/manual.h"

#include <CLI/CLI.hpp>

#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/man_page.h"
#include "test_builder/command_line.h"
#include "test_builder/help.h"

namespace distbench::test_builder {

std::string TestBuilderManPage(absl::string_view version) {
  flags::ConnectionDefaults defaults(flags::NoEnvironment());
  CommandLine line;
  CLI::App app("Writes tests from patterns, and runs them.", "test_builder");
  AddFlags(app, line);
  defaults.Announce(app);
  flags::ManPageOptions options = {.program = "test_builder",
                                   .version = std::string(version)};
  for (const HelpSection& section : HelpSections()) {
    options.sections.push_back({section.title, section.text});
  }
  return flags::ManPage(app, options);
}

}  // namespace distbench::test_builder
