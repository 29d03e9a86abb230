// Flags as existing scripts write them.

#ifndef DISTBENCH_CLI_LEGACY_FLAGS_H_
#define DISTBENCH_CLI_LEGACY_FLAGS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace distbench::cli {

struct TranslatedFlags {
  std::vector<std::string> arguments;

  // What became of the flags that distbench does not have, for the user.
  std::vector<std::string> notes;
};

// Returns the arguments (without the program's name) in distbench's form:
// - "-flag" as "--flag", if `has_flag` says that a command has it;
// - "--helpfull" as "--help";
// - "--control_plane_device=D" as "--listen=ADDRESS", and left out for a node
//   manager, to which nothing connects;
// - "--default_data_plane_device=D" as "--service_address=ADDRESS".
// `address_of` is AddressOrDevice() (exposure.h), whose errors are
// returned. What follows "--" stays as it is.
absl::StatusOr<TranslatedFlags> TranslateLegacyFlags(
    const std::vector<std::string>& arguments,
    absl::FunctionRef<bool(const std::string& name)> has_flag,
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& device)>
        address_of);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_LEGACY_FLAGS_H_
