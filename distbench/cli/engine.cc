#include <fcntl.h>
#include <glog/logging.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "absl/status/status.h"
#include "distbench/base/file_descriptor.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/error_output.h"
#include "distbench/hosting/engine_server.h"
#include "distbench/hosting/engine_socket.h"
#include "distbench/hosting/in_process_engines.h"
#include "distbench/hosting/warm_up.h"
#include "distbench/report/findings/verdict.h"

namespace distbench {
namespace {

int RunEngine(bool is_warm) {
  struct stat socket = {};
  if (fstat(kEngineSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    return Fail(absl::InvalidArgumentError(
                     "node managers start this themselves; see: distbench help "
                     "node_manager"),
                kExitUsage);
  }
  // Processes that the engines start must not keep the socket open.
  fcntl(kEngineSocket, F_SETFD, FD_CLOEXEC);
  SetUpEngineProcess();
  if (is_warm) {
    const absl::Status status = WarmUp(InProcessEngines());
    // A host without loopback, for example. Its first test then takes longer.
    LOG_IF(WARNING, !status.ok()) << "an engine could not warm up: " << status;
  }
  ServeEngines(FileDescriptor(kEngineSocket), InProcessEngines());
  return kExitOk;
}

}  // namespace

void AddEngineCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      kEngineSubcommand, "Runs a service instance for a node manager");
  // Hidden from the list of subcommands, because it is not for users.
  command->group("");
  auto is_warm = std::make_shared<bool>(false);
  command->add_flag(kWarmFlag, *is_warm);
  command->callback([is_warm, &chosen] {
    chosen = [is_warm] { return RunEngine(*is_warm); };
  });
}

}  // namespace distbench
