#ifndef DISTBENCH_BASE_PROC_FOLDER_H_
#define DISTBENCH_BASE_PROC_FOLDER_H_

#include <sys/types.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace distbench {

// Returns the /proc folder of a process; pid 0 stands for this one. An empty
// `root` stands for the real file system.
inline std::string ProcFolder(const std::string& root, pid_t pid) {
  return pid == 0 ? root + "/proc/self" : absl::StrCat(root, "/proc/", pid);
}

}  // namespace distbench

#endif  // DISTBENCH_BASE_PROC_FOLDER_H_
