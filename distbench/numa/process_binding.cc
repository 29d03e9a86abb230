#include "distbench/numa/process_binding.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/numa/topology.h"

namespace distbench {
namespace {

// Returns only on failure.
absl::Status ReplaceBySameProgram() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) {
    arguments.push_back(argument);
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  if (!arguments.empty()) execv("/proc/self/exe", pointers.data());
  return absl::FailedPreconditionError(
      absl::StrCat("cannot restart this program: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<ResolvedBinding> BindProcess(const NumaBinding& asked) {
  absl::StatusOr<ResolvedBinding> binding =
      ResolveBinding(asked, /*instance=*/0, ReadHostTopology(""));
  if (!binding.ok()) return binding.status();
  if (IsThisThreadBound(*binding)) return binding;
  absl::Status status = BindThisThread(*binding);
  if (status.ok()) status = ReplaceBySameProgram();
  return status;
}

}  // namespace distbench
