// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/process_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/synchronization/mutex.h"
#include "glog/logging.h"

namespace distbench::base {

namespace {

constexpr int kDoNotOverwrite = 0;

void SetUpLogging(const char* program) {
  FLAGS_logtostderr = true;
  if (std::getenv("GLOG_minloglevel") == nullptr) {
    FLAGS_minloglevel = google::GLOG_WARNING;
  }
  google::InitGoogleLogging(program);
  setenv("GRPC_VERBOSITY", "NONE", kDoNotOverwrite);
}

// What is opened first would get the number of a stream that the process was
// started without, and what is printed. Written to or read the wrong way, what
// takes its place fails as the closed stream did.
void OccupyStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one: those below it are in use.
    (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Each connection is an open file. The usual soft limit of 1024 exists for
// programs that use select(), which cannot handle more.
void AllowAllOpenFiles() {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  PLOG_IF(WARNING, setrlimit(RLIMIT_NOFILE, &files) != 0)
      << "cannot raise the limit of open files";
}

// `bazel run` starts a program in its runfiles folder and passes the user's
// working directory in a variable. Programs that this one starts elsewhere
// inherit the variable, but it does not apply to them.
void LeaveRunfiles() {
  const char* user_directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_directory == nullptr) return;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || here.string().find(".runfiles/") == std::string::npos) return;
  std::filesystem::current_path(user_directory, error);
  LOG_IF(WARNING, error) << "cannot change to " << user_directory << ": "
                         << error.message()
                         << "; relative paths are relative to " << here;
}

// Debian's Abseil looks for cycles whenever a mutex is locked while another one
// is held, as gRPC does for each event. In tests, it still does.
void TrustMutexes() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace

void SetUpProcess(const char* program) {
  OccupyStandardDescriptors();
  SetUpLogging(program);
  LeaveRunfiles();
  AllowAllOpenFiles();
  TrustMutexes();
}

}  // namespace distbench::base
