#include "distbench/launching/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench {
namespace {

constexpr mode_t kOwnerReadsAndWrites = 0600;
constexpr mode_t kOwnerEnters = 0700;
constexpr char kInMemory[] = "/dev/shm";
constexpr char kPattern[] = "/distbench.XXXXXX";

std::string TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  const std::string elsewhere = TemporaryFolder();
  for (const std::string& place : {std::string(kInMemory), elsewhere}) {
    std::string path = place + kPattern;
    if (mkdtemp(path.data()) != nullptr) return PrivateFolder(std::move(path));
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot make a folder in ", kInMemory, " or ",
                          elsewhere, "; set TMPDIR to one that is writable"));
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;  // nothing more can be done
  std::filesystem::remove_all(path_, ignored);
}

absl::Status PrivateFolder::Write(absl::string_view name,
                                  absl::string_view contents) const {
  const std::string path = absl::StrCat(path_, "/", name);
  const FileDescriptor file(open(path.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                 kOwnerReadsAndWrites));
  if (file.is_open() && write(file.get(), contents.data(), contents.size()) ==
                            static_cast<ssize_t>(contents.size())) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

absl::StatusOr<std::string> PrivateFolder::MakeFolder(
    absl::string_view name) const {
  std::string path = absl::StrCat(path_, "/", name);
  if (mkdir(path.c_str(), kOwnerEnters) == 0) return path;
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
}

}  // namespace distbench
