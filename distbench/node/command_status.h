#ifndef DISTBENCH_NODE_COMMAND_STATUS_H_
#define DISTBENCH_NODE_COMMAND_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench {

// A status on its way to the sequencer.
inline CommandStatus ToCommandStatus(const absl::Status& status) {
  CommandStatus command_status;
  command_status.set_code(static_cast<int>(status.code()));
  if (!status.ok()) {
    command_status.set_message(std::string(status.message()));
  }
  return command_status;
}

}  // namespace distbench

#endif  // DISTBENCH_NODE_COMMAND_STATUS_H_
