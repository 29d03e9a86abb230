// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/engine_command.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <iostream>
#include <limits>

#include "distbench/base/files.h"
#include "distbench/flags/flags.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/hosting/engine_server.h"

namespace distbench::cli {

CLI::App& AddEngineSubcommand(CLI::App& program, EngineFlags& flags) {
  CLI::App& command =
      flags::AddSubcommand(program, hosting::kEngineSubcommand,
                           "Runs a service instance for a node manager");
  // It is not for users.
  flags::HideSubcommand(command);
  flags::AddSwitch(command, hosting::kDescribeFlag, flags.describes, "");
  flags::AddSwitch(command, hosting::kWarmFlag, flags.is_warm, "");
  flags::AddNumberFlag(command, hosting::kMaxFilesFlag, flags.max_files, 0,
                       std::numeric_limits<int64_t>::max(), "N", "");
  return command;
}

absl::Status RunEngine(const EngineFlags& flags) {
  if (flags.describes) {
    std::cout << hosting::DescribeThisProgram().DebugString();
    return absl::OkStatus();
  }
  struct stat socket = {};
  if (fstat(hosting::kEngineSocket, &socket) != 0 ||
      !S_ISSOCK(socket.st_mode)) {
    return absl::InvalidArgumentError(
        "node managers start this themselves; see: distbench help "
        "node_manager");
  }
  // Processes that the engines start must not keep the socket open.
  fcntl(hosting::kEngineSocket, F_SETFD, FD_CLOEXEC);
  absl::Status status = hosting::SetUpEngineProcess(flags.max_files);
  if (!status.ok()) return status;
  if (flags.is_warm) {
    const absl::Status warm = hosting::WarmUp(hosting::InProcessEngines());
    // A host without loopback, for example. Its first test then takes longer.
    LOG_IF(WARNING, !warm.ok()) << "an engine could not warm up: " << warm;
  }
  return hosting::ServeEngines(base::FileDescriptor(hosting::kEngineSocket),
                               hosting::InProcessEngines());
}

}  // namespace distbench::cli
