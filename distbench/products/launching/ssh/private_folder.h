#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_PRIVATE_FOLDER_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_PRIVATE_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace distbench::launching {

// A fresh folder of mode 0700, which this object removes with its contents. It
// is in memory where the host allows that, so that no disk ever has it.
class PrivateFolder {
 public:
  static absl::StatusOr<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, "")) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_PRIVATE_FOLDER_H_
