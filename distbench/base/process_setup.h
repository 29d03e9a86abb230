// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_PROCESS_SETUP_H_
#define DISTBENCH_BASE_PROCESS_SETUP_H_

namespace distbench::base {

// Sets up the process; main() calls this before there are other threads. Logs
// go to stderr, from warnings up, and gRPC logs nothing, unless the user sets
// GLOG_minloglevel or GRPC_VERBOSITY. Relative paths are relative to the user's
// working directory, also under `bazel run`. The limit of open files is raised
// to the hard limit (ulimit -Hn). Mutexes do not look for deadlocks. Whatever
// the process opens, none of it becomes stdin, stdout or stderr: if one of
// these is closed, its number is taken, and using it still fails.
void SetUpProcess(const char* program);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_PROCESS_SETUP_H_
