#include "distbench/base/process_setup.h"

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "glog/logging.h"

namespace distbench {

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

// Each connection is an open file. The usual limit of 1024 is for programs that
// use select(), which do not survive more.
void AllowAllOpenFiles() {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  PLOG_IF(WARNING, setrlimit(RLIMIT_NOFILE, &files) != 0)
      << "can not raise the limit of open files";
}

// `bazel run` starts a program in its runfiles, and says where the user is.
// Programs that it starts elsewhere inherit the variable, but not its meaning.
void LeaveRunfiles() {
  const char* user_directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_directory == nullptr) return;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || here.string().find(".runfiles/") == std::string::npos) return;
  std::filesystem::current_path(user_directory, error);
  LOG_IF(WARNING, error) << "can not change to " << user_directory << ": "
                         << error.message()
                         << "; relative paths are relative to " << here;
}

}  // namespace

void SetUpProcess(const char* program) {
  SetUpLogging(program);
  LeaveRunfiles();
  AllowAllOpenFiles();
}

}  // namespace distbench
