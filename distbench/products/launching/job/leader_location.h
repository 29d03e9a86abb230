// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the processes of a job find their leader, rank 0.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_LOCATION_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_LOCATION_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/launching/job/launcher_environment.h"

namespace distbench::launching {

// The port of a leader whose host is known and whose port nobody chose.
inline constexpr int kDefaultLeaderPort = 10'000;

// Either an address that everyone knows beforehand, or a file in which the
// leader says it.
struct LeaderLocation {
  std::string host;  // empty: the leader says where it is, in `file`
  int port = 0;      // 0: the leader picks a free one
  std::string file;  // empty: the address is known
};

// The values of --leader, --rendezvous and --port; empty: not given.
struct LeaderFlags {
  std::string leader;
  std::string rendezvous;
  std::optional<int> port;
};

// Uses the first of these that is there: --leader=HOST[:PORT],
// --rendezvous=DIR, DISTBENCH_LEADER, DISTBENCH_RENDEZVOUS, and the first host
// of SLURM_STEP_NODELIST with a port that follows from the numbers of job and
// step, so that jobs that share a host do not collide. Errors: two flags that
// contradict each other, a malformed address, or nothing that says where the
// leader is.
//
// The file is DIR/leader; after Slurm has requeued the job for the Nth time,
// DIR/leader.N, so that nobody reads what an earlier try left there.
absl::StatusOr<LeaderLocation> FindLeader(
    const LeaderFlags& flags, const LauncherEnvironment& environment);

// The file in which a job's leader says where it is, on a file system that all
// of the job's hosts share. Its first line is "HOST:PORT".

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

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_LEADER_LOCATION_H_
