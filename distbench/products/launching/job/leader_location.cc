// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/leader_location.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hostlist.h"
#include "distbench/results/output_file.h"

namespace distbench::launching {
namespace {

constexpr char kLeaderVariable[] = "DISTBENCH_LEADER";
constexpr char kRendezvousVariable[] = "DISTBENCH_RENDEZVOUS";
constexpr char kNodeList[] = "SLURM_STEP_NODELIST";
constexpr char kJobId[] = "SLURM_JOB_ID";
constexpr char kStepId[] = "SLURM_STEP_ID";
constexpr char kRestartCount[] = "SLURM_RESTART_COUNT";

// Ports that follow from numbers of jobs: below those that the kernel hands out
// (ip_local_port_range starts at 32768), above those of usual services.
constexpr int kFirstJobPort = 20'000;
constexpr int kJobPorts = 12'000;

// Ports of a job's first steps are next to each other.
constexpr int kPortsPerJob = 8;

absl::Status Wrong(absl::string_view problem) {
  return absl::InvalidArgumentError(problem);
}

// Whether the text has a port. The colons of a bare IPv6 address have none.
bool HasPort(absl::string_view text) {
  if (absl::EndsWith(text, "]")) return false;
  const size_t colon = text.find(':');
  return colon != absl::string_view::npos &&
         (colon == text.rfind(':') || absl::StartsWith(text, "["));
}

// `source` names the flag or the variable.
absl::StatusOr<LeaderLocation> ParseAddress(absl::string_view source,
                                            const std::string& text) {
  LeaderLocation location;
  const bool has_port = HasPort(text);
  auto [host, port] = has_port ? base::SplitHostPort(text)
                               : std::pair<std::string, std::string>(
                                     base::WithoutBrackets(text), "");
  const bool is_port_fine =
      !has_port || (absl::SimpleAtoi(port, &location.port) &&
                    location.port > 0 && location.port <= base::kMaxPort);
  if (host.empty() || !is_port_fine ||
      host.find_first_of(" \t\n/") != std::string::npos) {
    return Wrong(absl::StrCat(source, "=", text,
                              " is not HOST or HOST:PORT, such as host1 or "
                              "host1:10000"));
  }
  location.host = std::move(host);
  return location;
}

absl::StatusOr<LeaderLocation> AddressFrom(absl::string_view source,
                                           const std::string& text,
                                           std::optional<int> port) {
  absl::StatusOr<LeaderLocation> location = ParseAddress(source, text);
  if (!location.ok()) return location.status();
  if (port.has_value() && location->port != 0 && location->port != *port) {
    return Wrong(absl::StrCat(source, "=", text, " contradicts --port=", *port,
                              "; give the port once"));
  }
  if (port == 0) {
    return Wrong(absl::StrCat("--port=0 is a port that nobody knows, and ",
                              source, "=", text,
                              " has none; give a port, or --rendezvous=DIR"));
  }
  if (location->port == 0) {
    location->port = port.value_or(kDefaultLeaderPort);
  }
  return location;
}

LeaderLocation FileIn(const std::string& directory, std::optional<int> port,
                      const LauncherEnvironment& environment) {
  const std::string tries = environment.Get(kRestartCount).value_or("0");
  return {.host = "",
          .port = port.value_or(0),
          .file = absl::StrCat(directory, "/leader",
                               tries == "0" ? "" : absl::StrCat(".", tries))};
}

absl::StatusOr<int> SlurmPort(const LauncherEnvironment& environment) {
  uint32_t job = 0;
  uint32_t step = 0;
  if (!absl::SimpleAtoi(environment.Get(kJobId).value_or(""), &job) ||
      !absl::SimpleAtoi(environment.Get(kStepId).value_or("0"), &step)) {
    return Wrong(absl::StrCat(kNodeList, " is set, but ", kJobId,
                              " is no number, from which the leader's port "
                              "would follow; give --port=PORT"));
  }
  const uint64_t number = uint64_t{job} * kPortsPerJob + step % kPortsPerJob;
  return static_cast<int>(kFirstJobPort + number % kJobPorts);
}

absl::StatusOr<LeaderLocation> SlurmLeader(
    const std::string& node_list, std::optional<int> port,
    const LauncherEnvironment& environment) {
  const absl::StatusOr<std::vector<std::string>> hosts =
      base::ParseHostlist(node_list);
  if (!hosts.ok()) {
    return Wrong(absl::StrCat(kNodeList, ": ", hosts.status().message(),
                              "; give --leader=HOST"));
  }
  if (port == 0) {
    return Wrong(
        "--port=0 is a port that nobody knows; give --rendezvous=DIR, a "
        "directory that all hosts share, or leave it out");
  }
  LeaderLocation location = {.host = hosts->front(), .port = 0, .file = ""};
  if (port.has_value()) {
    location.port = *port;
    return location;
  }
  const absl::StatusOr<int> derived = SlurmPort(environment);
  if (!derived.ok()) return derived.status();
  location.port = *derived;
  return location;
}

}  // namespace

absl::StatusOr<LeaderLocation> FindLeader(
    const LeaderFlags& flags, const LauncherEnvironment& environment) {
  if (!flags.leader.empty() && !flags.rendezvous.empty()) {
    return Wrong(
        "--leader and --rendezvous both say where the leader is; give one");
  }
  if (!flags.leader.empty()) {
    return AddressFrom("--leader", flags.leader, flags.port);
  }
  if (!flags.rendezvous.empty()) {
    return FileIn(flags.rendezvous, flags.port, environment);
  }
  if (const auto leader = environment.Get(kLeaderVariable)) {
    return AddressFrom(kLeaderVariable, *leader, flags.port);
  }
  if (const auto directory = environment.Get(kRendezvousVariable)) {
    return FileIn(*directory, flags.port, environment);
  }
  if (const auto node_list = environment.Get(kNodeList)) {
    return SlurmLeader(*node_list, flags.port, environment);
  }
  return Wrong(
      "nothing says where rank 0 is; give --leader=HOST[:PORT], or "
      "--rendezvous=DIR with a directory that all hosts share");
}

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
  const absl::Status status =
      results::WriteFile(path_, absl::StrCat(address, "\n"));
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
