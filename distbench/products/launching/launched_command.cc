#include <signal.h>
#include <sys/wait.h>

#include <unistd.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/child_process.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/output.h"
#include "distbench/cli/own_program.h"
#include "distbench/products/launching/commands.h"
#include "distbench/products/launching/ssh/launched_rank.h"
#include "distbench/report/findings/verdict.h"

namespace distbench::launching {

namespace {

absl::StatusOr<int> RunLaunched(
    const std::vector<std::string>& join_arguments) {
  // A session that is lost takes stdout and stderr with it. What runs here, and
  // inherits this, must not end by that, but in order.
  signal(SIGPIPE, SIG_IGN);
  base::StopSignals stop(report::kExitRunFailed);
  const absl::StatusOr<std::string> program = cli::OwnProgram();
  if (!program.ok()) return program.status();
  const absl::StatusOr<int> wait_status = RunLaunchedRank(
      {.program = *program, .join_arguments = join_arguments}, STDIN_FILENO,
      stop, [](absl::string_view line) { std::cout << line << std::endl; });
  if (!wait_status.ok()) return wait_status.status();
  if (WIFEXITED(*wait_status)) return WEXITSTATUS(*wait_status);
  return cli::Fail(
      absl::StrCat("distbench join ", base::DescribeExit(*wait_status)),
      report::kExitRunFailed);
}

}  // namespace

void AddLaunchedCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "launched", "Runs one host's part of a job for distbench launch");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  auto arguments = std::make_shared<std::vector<std::string>>();
  cli::AddTrailingCommand(command, *arguments);
  cli::SetBody(command, chosen,
               [arguments] { return RunLaunched(*arguments); });
}

}  // namespace distbench::launching
