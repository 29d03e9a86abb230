#include "distbench/products/launching/job/leader_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"
#include "distbench/base/write_all.h"
#include "distbench/results/output_file.h"

namespace distbench::launching {
namespace {

namespace fs = std::filesystem;

// Far more than an address.
constexpr int64_t kMaxBytes = 1 << 20;

bool IsAddress(const std::string& line) {
  const auto [host, port] = base::SplitHostPort(line);
  int number = 0;
  return !host.empty() && absl::SimpleAtoi(port, &number) && number > 0 &&
         number <= base::kMaxPort;
}

// A client of NFS may remember for half a minute that a file was not there. It
// notices new files at once when it lists the directory.
void RefreshDirectory(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
  }
}

absl::Status CannotUse(const std::string& path, absl::string_view problem) {
  const std::string directory = fs::path(path).parent_path().string();
  return absl::InvalidArgumentError(absl::StrCat(
      "--rendezvous=", directory, ": ", problem,
      "; make a directory that all hosts share and that this user can write "
      "to, such as with mkdir -m 700"));
}

}  // namespace

absl::StatusOr<std::string> ReadLeaderFile(const std::string& path) {
  RefreshDirectory(fs::path(path).parent_path());
  const absl::StatusOr<std::string> text = base::ReadFile(path, kMaxBytes);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(absl::StrCat(
        "rank 0 has not written its address to ", path,
        "; was it started, with the same --rendezvous, and do all hosts share "
        "that directory?"));
  }
  if (!text.ok()) return text.status();
  const std::pair<std::string, std::string> lines =
      absl::StrSplit(*text, absl::MaxSplits('\n', 1));
  if (IsAddress(lines.first)) return lines.first;
  return absl::InvalidArgumentError(
      absl::StrCat(path, " does not begin with HOST:PORT; remove it"));
}

LeaderFile::~LeaderFile() {
  // Another leader's file stays.
  if (!announced_.empty() && Check().ok()) unlink(path_.c_str());
}

absl::Status LeaderFile::Clear() {
  const std::string directory = fs::path(path_).parent_path().string();
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return CannotUse(path_, std::strerror(errno));
  }
  if (unlink(path_.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return CannotUse(
      path_, absl::StrCat("cannot remove ", path_, ": ", std::strerror(errno)));
}

absl::Status LeaderFile::Announce(const std::string& address) {
  const auto file = results::OutputFile::Open(path_);
  if (!file.ok()) return file.status();
  if (!base::WriteAll((*file)->fd(), absl::StrCat(address, "\n"))) {
    return results::WriteError(path_, errno);
  }
  const absl::Status status = (*file)->Commit();
  if (status.ok()) announced_ = address;
  return status;
}

absl::Status LeaderFile::Check() const {
  if (announced_.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> address = ReadLeaderFile(path_);
  // Nodes that have read the file need it no longer.
  if (!address.ok() || *address == announced_) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      "another rank 0 has written its address, ", *address, ", to ", path_,
      "; start one process with each rank, and "
      "give each job a rendezvous directory of its own"));
}

}  // namespace distbench::launching
