// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The main loop of an engine process, which obeys the node manager that started
// it.

#ifndef DISTBENCH_HOSTING_ENGINE_SERVER_H_
#define DISTBENCH_HOSTING_ENGINE_SERVER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/hosting/engine_factory.h"

namespace distbench::hosting {

// Runs the engines that the node manager at the other end of the socket
// requests, made by `engines`, until that closes the socket or dies. Once the
// node manager has asked for progress, a silence of kNodeManagerSilence ends
// the process. RESOURCE_EXHAUSTED if there is no thread to serve with.
absl::Status ServeEngines(base::FileDescriptor socket, EngineFactory& engines);

inline constexpr absl::Duration kNodeManagerSilence = absl::Seconds(4);

// Prepares the calling process to be an engine process: it ends with its
// parent, leaves SIGINT, SIGTERM and SIGHUP to the parent, and may open at most
// `max_files` files; 0 leaves that limit unchanged. The error is the kernel's.
absl::Status SetUpEngineProcess(int64_t max_files = 0);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_SERVER_H_
