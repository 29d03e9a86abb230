// Engines that run in this process.

#ifndef DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_
#define DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_

#include "absl/status/status.h"
#include "distbench/hosting/engine_factory.h"

namespace distbench::hosting {

// The factory of engines that run in this process. Never destroyed;
// thread-safe.
EngineFactory& InProcessEngines();

// Runs a test of one RPC over gRPC within this process and discards its
// results: what an engine needs the first time (code that is loaded, threads
// that libraries start) is then ready for the real one. Takes some 30 ms.
absl::Status WarmUp(EngineFactory& engines);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_
