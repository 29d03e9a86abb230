#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "distbench/base/file_descriptor.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/error_output.h"
#include "distbench/hosting/engine_server.h"
#include "distbench/hosting/engine_socket.h"
#include "distbench/hosting/in_process_engines.h"
#include "distbench/hosting/warm_up.h"
#include "distbench/report/verdict.h"

namespace distbench {
namespace {

int RunEngine() {
  struct stat socket = {};
  if (fstat(kEngineSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    return Fail(absl::InvalidArgumentError(
                    "node managers start this for themselves; see: distbench "
                    "help node_manager"),
                kExitUsage);
  }
  // Of what the engines start, nothing may keep the socket open.
  fcntl(kEngineSocket, F_SETFD, FD_CLOEXEC);
  SetUpEngineProcess();
  WarmUpIfIdle(kEngineSocket, InProcessEngines());
  ServeEngines(FileDescriptor(kEngineSocket), InProcessEngines());
  return kExitOk;
}

}  // namespace

void AddEngineCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      kEngineSubcommand, "Runs a service instance for a node manager");
  // Not for users: the list of subcommands does not have it.
  command->group("");
  command->callback([&chosen] { chosen = RunEngine; });
}

}  // namespace distbench
