#include "distbench/products/launching/trailing_program.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/cli/own_program.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/command_tree.h"

namespace distbench::launching {

namespace {

namespace fs = std::filesystem;

constexpr char kTestBuilder[] = "test_builder";

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

absl::StatusOr<std::string> FindTestBuilder(const std::string& own_program,
                                            const std::string& search_path) {
  const fs::path beside = fs::path(own_program).parent_path() / kTestBuilder;
  if (IsProgram(beside)) return beside.string();
  for (const absl::string_view folder :
       absl::StrSplit(search_path, ':', absl::SkipEmpty())) {
    const fs::path path = fs::path(std::string(folder)) / kTestBuilder;
    if (IsProgram(path)) return path.string();
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no test_builder beside ", own_program,
      " and none in PATH; install it there (scripts/install.sh does)"));
}

// The subcommands that users see. A job within the job would wait for itself.
std::vector<std::string> PossibleCommands(const CLI::App& app) {
  std::vector<std::string> names = {kTestBuilder};
  for (const CLI::App* command : flags::CommandsOf(app)) {
    std::string name = flags::FullName(*command);
    if (name != "join") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

absl::StatusOr<JobCommand> FindTrailingProgram(
    const CLI::App& app, const std::vector<std::string>& words,
    const std::string& search_path) {
  if (words.empty()) return JobCommand();
  absl::StatusOr<std::string> own_program = cli::OwnProgram();
  if (!own_program.ok()) return own_program.status();
  if (words.front() == kTestBuilder) {
    absl::StatusOr<std::string> path =
        FindTestBuilder(*own_program, search_path);
    if (!path.ok()) return path.status();
    return JobCommand{.path = *std::move(path), .arguments = words};
  }
  const std::vector<std::string> names = PossibleCommands(app);
  if (std::find(names.begin(), names.end(), words.front()) == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(words.front()),
                     " after -- is no command that a job can run; ",
                     config::Suggestion(words.front(), names)));
  }
  JobCommand command = {.path = *std::move(own_program),
                        .arguments = {"distbench"}};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return command;
}

}  // namespace distbench::launching
