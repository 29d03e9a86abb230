// What a node manager and an engine process say to each other: the command line
// of the process, and the messages over its socket.

#ifndef DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
#define DISTBENCH_HOSTING_ENGINE_MESSAGES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/engine/engine.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/numa/binding.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"

namespace distbench::hosting {

// The subcommand of an engine process, its flags for warming up first and for
// limiting its open files, and the file descriptor of its end of the socket
// pair.
inline constexpr char kEngineSubcommand[] = "engine";
inline constexpr char kWarmFlag[] = "--warm";
inline constexpr char kMaxFilesFlag[] = "--max_files";
inline constexpr int kEngineSocket = 3;

// Converts a status for its way to another process, and back.
inline CommandStatus ToCommandStatus(const absl::Status& status) {
  CommandStatus command_status;
  command_status.set_code(static_cast<int>(status.code()));
  if (!status.ok()) {
    command_status.set_message(std::string(status.message()));
  }
  return command_status;
}

inline absl::Status FromCommandStatus(const CommandStatus& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

// Convert the messages to and from the types of the rest of the program.
EngineBinding ToEngineBinding(const numa::ResolvedBinding& binding);
absl::StatusOr<numa::ResolvedBinding> FromEngineBinding(
    const EngineBinding& binding);

TlsMaterial ToTlsMaterial(const security::TlsContents& contents);
security::TlsContents FromTlsMaterial(const TlsMaterial& material);

// The recent intervals are not converted.
EngineTotals ToEngineTotals(const engine::EngineProgress& progress);
engine::EngineProgress FromEngineTotals(const EngineTotals& totals);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
