#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/products/protection/commands.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/report/findings/verdict.h"

namespace distbench::protection {
namespace {

absl::StatusOr<int> Guard(const std::string& journal) {
  constexpr int kSocket = base::ChildProgram::kInheritedNumber;
  struct stat socket = {};
  if (fstat(kSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    return absl::InvalidArgumentError(
        "node managers start this themselves; see: distbench help "
        "node_manager");
  }
  KernelGroupFiles files;
  const absl::Status status =
      RunGuardian(base::FileDescriptor(kSocket), journal, files);
  return status.ok() ? report::kExitOk
                     : cli::Fail(status, report::kExitRunFailed);
}

}  // namespace

void AddControlGuardianCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command =
      cli::AddSubcommand(app, kGuardianSubcommand,
                         "Undoes the controls of a node manager that died");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  auto journal = std::make_shared<std::string>();
  cli::AddArgument(command, "journal", *journal, "FILE", "");
  cli::Require(command, "journal");
  cli::SetBody(command, chosen, [journal] { return Guard(*journal); });
}

}  // namespace distbench::protection
