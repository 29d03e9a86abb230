#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/report/findings/verdict.h"

namespace distbench::cli {
namespace {

int Guard(const std::string& journal) {
  constexpr int kSocket = base::ChildProgram::kInheritedNumber;
  struct stat socket = {};
  if (fstat(kSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    return Fail(absl::InvalidArgumentError(
                    "node managers start this themselves; see: distbench help "
                    "node_manager"),
                report::kExitUsage);
  }
  protection::KernelGroupFiles files;
  const absl::Status status =
      protection::RunGuardian(base::FileDescriptor(kSocket), journal, files);
  return status.ok() ? report::kExitOk : Fail(status, report::kExitRunFailed);
}

}  // namespace

void AddControlGuardianCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, protection::kGuardianSubcommand,
                    "Undoes the controls of a node manager that died");
  // Hidden from the list of subcommands, because it is not for users.
  HideSubcommand(command);
  auto journal = std::make_shared<std::string>();
  AddArgument(command, "journal", *journal, "FILE", "");
  Require(command, "journal");
  SetBody(command, chosen, [journal] { return Guard(*journal); });
}

}  // namespace distbench::cli
