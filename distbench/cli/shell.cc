// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The hidden subcommands for shells: completion, and files for packages.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/version.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/flags/completion.h"
#include "distbench/flags/flags.h"
#include "distbench/flags/man_page.h"
#include "distbench/report/findings/findings.h"
#include "test_builder/help.h"

namespace distbench::cli {
namespace {

constexpr char kTestBuilderWord[] = "test_builder";

// Whoever presses Tab waits no longer, whatever a sequencer or a file does.
constexpr unsigned kCompletionSeconds = 2;

void GiveUpAfter(unsigned seconds) {
  signal(SIGALRM, [](int) { _exit(report::kExitOk); });
  alarm(seconds);
}

// What follows the last "--" is the command line of a program that another one
// runs, and begins with the name of a program or of a subcommand.
std::vector<std::string> InnermostLine(const std::vector<std::string>& words) {
  const auto before = words.rbegin() + 1;  // the last word is being typed
  const auto separator = std::find(before, words.rend(), "--");
  if (separator == words.rend()) return words;
  std::vector<std::string> inner(separator.base(), words.end());
  if (inner.size() == 1 || inner.front() != kTestBuilderWord) {
    inner.insert(inner.begin(), "distbench");
  }
  return inner;
}

// `words` are what was typed after "distbench".
flags::Completion CompleteDistbench(const CLI::App& app,
                                    const std::vector<std::string>& words,
                                    bool is_inner_line) {
  flags::Completion completion = flags::Complete(app, words, ValueCandidates);
  // A job runs it as if it were a subcommand.
  if (is_inner_line && words.size() == 1 &&
      absl::StartsWith(kTestBuilderWord, words.front())) {
    completion.candidates.push_back(
        {kTestBuilderWord, "Builds tests from patterns, and runs them"});
  }
  return completion;
}

// `words` begin with the name of a program, and end with what is being typed.
int PrintCompletion(const CLI::App& app, std::vector<std::string> words) {
  GiveUpAfter(kCompletionSeconds);
  if (words.size() < 2) return report::kExitUsage;
  std::vector<std::string> line = InnermostLine(words);
  const bool is_inner_line = line != words;
  const bool is_test_builder = line.front() == kTestBuilderWord;
  line.erase(line.begin());
  std::cout << flags::CompletionText(
                   is_test_builder
                       ? test_builder::CompleteTestBuilder(std::move(line))
                       : CompleteDistbench(app, line, is_inner_line))
            << std::flush;
  return report::kExitOk;
}

absl::Status WriteText(const std::filesystem::path& path,
                       absl::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    return absl::UnknownError(absl::StrCat("cannot make the directory ",
                                           path.parent_path().string(), ": ",
                                           error.message()));
  }
  return WriteReport(path, text);
}

// Writes the pages of a command and of all below it.
absl::Status WriteManPages(const CLI::App& command,
                           const std::filesystem::path& folder) {
  const flags::ManPageOptions options = {
      .program = "distbench", .version = std::string(base::ProgramVersion())};
  absl::Status status = WriteText(
      folder / absl::StrCat(flags::ManPageName(command, options.program), ".1"),
      flags::ManPage(command, options));
  for (const CLI::App* sub : flags::CommandsOf(command)) {
    status.Update(WriteManPages(*sub, folder));
  }
  return status;
}

absl::Status WriteShellFiles(const CLI::App& app,
                             const std::filesystem::path& folder) {
  absl::Status status = WriteManPages(app, folder / "man");
  status.Update(
      WriteText(folder / "man" / "test_builder.1",
                test_builder::TestBuilderManPage(base::ProgramVersion())));
  for (const char* program : {"distbench", kTestBuilderWord}) {
    for (const flags::ShellScript& script : flags::CompletionScripts(program)) {
      status.Update(
          WriteText(folder / "completions" / script.path, script.text));
    }
  }
  return status;
}

}  // namespace

void AddCompleteCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "complete", "Prints what may come next on a command line");
  // Hidden from the list of subcommands, because scripts of shells call it.
  HideSubcommand(command);
  auto words = std::make_shared<std::vector<std::string>>();
  AddTrailingCommand(command, *words);
  SetFooter(command, "Example:\n  distbench complete -- distbench run_");
  SetBody(command, chosen,
          [&app, words] { return PrintCompletion(app, *words); });
}

void AddGenerateShellFilesCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "generate_shell_files",
      "Writes manual pages and completion scripts of all programs");
  // Hidden from the list of subcommands, because packages call it.
  HideSubcommand(command);
  auto folder = std::make_shared<std::string>();
  AddArgument(command, "DIR", *folder, "DIR",
              "Where to make man/ and completions/");
  Require(command, "DIR");
  SetFooter(command, "Example:\n  distbench generate_shell_files build/shell");
  SetBody(command, chosen, [&app, folder] {
    const absl::Status status = WriteShellFiles(app, *folder);
    return status.ok() ? absl::StatusOr<int>(report::kExitOk) : status;
  });
}

}  // namespace distbench::cli
