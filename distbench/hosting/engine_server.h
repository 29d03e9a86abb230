// What an engine process does: obeys the node manager that started it.

#ifndef DISTBENCH_HOSTING_ENGINE_SERVER_H_
#define DISTBENCH_HOSTING_ENGINE_SERVER_H_

#include "distbench/base/file_descriptor.h"
#include "distbench/hosting/engine_factory.h"

namespace distbench {

// Runs the engines that the node manager at the other end of the socket asks
// for, made by `engines`, until it closes the socket or dies. Ends the process
// if the node manager has asked for progress once and then says nothing for
// kNodeManagerSilence.
void ServeEngines(FileDescriptor socket, EngineFactory& engines);

inline constexpr absl::Duration kNodeManagerSilence = absl::Seconds(4);

// Prepares the calling process to be an engine process: it ends with its
// parent, and leaves SIGINT, SIGTERM and SIGHUP to it.
void SetUpEngineProcess();

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_SERVER_H_
