// The file in which a job's leader says where it is, on a file system that all
// of the job's hosts share. Its first line is "HOST:PORT".

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_FILE_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace distbench::launching {

// Returns the "HOST:PORT" in the file. NOT_FOUND if there is no such file
// (yet), INVALID_ARGUMENT if it contains something else.
absl::StatusOr<std::string> ReadLeaderFile(const std::string& path);

// The leader's side of the file. Not thread-safe.
class LeaderFile {
 public:
  explicit LeaderFile(std::string path) : path_(std::move(path)) {}

  // Withdraws the announcement.
  ~LeaderFile();

  LeaderFile(const LeaderFile&) = delete;
  LeaderFile& operator=(const LeaderFile&) = delete;

  const std::string& path() const { return path_; }

  // Removes what an earlier leader left. The error names the directory that is
  // missing or cannot be written to.
  absl::Status Clear();

  // Writes the address. Whoever reads meanwhile finds the whole address or no
  // file.
  absl::Status Announce(const std::string& address);

  // Whether the file still has what was announced. The error, ALREADY_EXISTS,
  // names the address of the other leader.
  absl::Status Check() const;

 private:
  const std::string path_;
  std::string announced_;  // empty: nothing
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_FILE_H_
