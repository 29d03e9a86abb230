#include <fcntl.h>
#include <glog/logging.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/engine_server.h"
#include "distbench/report/findings/findings.h"

namespace distbench::cli {
namespace {

struct EngineFlags {
  bool is_warm = false;
  int64_t max_files = 0;
};

absl::StatusOr<int> RunEngine(const EngineFlags& flags) {
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
  status = hosting::ServeEngines(base::FileDescriptor(hosting::kEngineSocket),
                                 hosting::InProcessEngines());
  return status.ok() ? report::kExitOk : Fail(status, report::kExitRunFailed);
}

}  // namespace

void AddEngineCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, hosting::kEngineSubcommand,
                    "Runs a service instance for a node manager");
  // Hidden from the list of subcommands, because it is not for users.
  HideSubcommand(command);
  auto flags = std::make_shared<EngineFlags>();
  AddSwitch(command, hosting::kWarmFlag, flags->is_warm, "");
  AddNumberFlag(command, hosting::kMaxFilesFlag, flags->max_files, 0,
                std::numeric_limits<int64_t>::max(), "N", "");
  SetBody(command, chosen, [flags] { return RunEngine(*flags); });
}

}  // namespace distbench::cli
