#ifndef DISTBENCH_HOSTING_COMMAND_STATUS_H_
#define DISTBENCH_HOSTING_COMMAND_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_COMMAND_STATUS_H_
