#ifndef DISTBENCH_BASE_PROCESS_SETUP_H_
#define DISTBENCH_BASE_PROCESS_SETUP_H_

namespace distbench {

// What main() does first, before there are other threads: logs go to stderr,
// from warnings up, gRPC keeps its own to itself (GLOG_minloglevel and
// GRPC_VERBOSITY, set by the user, say otherwise), relative paths are relative
// to where the user stands, also under `bazel run`, and the process may open as
// many files as it may allow itself (ulimit -Hn).
void SetUpProcess(const char* program);

}  // namespace distbench

#endif  // DISTBENCH_BASE_PROCESS_SETUP_H_
