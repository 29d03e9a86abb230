#include "distbench/products/launching/ssh/private_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::launching {
namespace {

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

}  // namespace distbench::launching
