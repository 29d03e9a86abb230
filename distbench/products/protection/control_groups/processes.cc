// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/processes.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"

namespace distbench::protection {
namespace {

constexpr absl::Duration kRemovalInterval = absl::Milliseconds(5);

// Each round finds what was started during the previous one.
constexpr int kMaxMoveRounds = 100;

// How many foreign processes a message names.
constexpr size_t kMaxNamed = 5;

// 0 if there is no such process.
pid_t ParentOf(const std::string& root, pid_t pid) {
  constexpr int kParent = 4;
  const std::vector<std::string> fields =
      base::ReadStatFields(base::ProcFolder(root, pid));
  pid_t parent = 0;
  return fields.size() > kParent && absl::SimpleAtoi(fields[kParent], &parent)
             ? parent
             : 0;
}

bool IsOurs(const std::string& root, pid_t pid) {
  while (pid > 1 && pid != getpid()) pid = ParentOf(root, pid);
  return pid == getpid();
}

bool HasGone(const std::string& root, pid_t pid) {
  return !Exists(base::ProcFolder(root, pid));
}

// Processes of other pid namespaces are 0.
std::string Describe(const std::string& root, pid_t pid) {
  if (pid == 0) return "a process of another pid namespace";
  return absl::StrCat(base::FirstLine(base::ProcFolder(root, pid) + "/comm"),
                      " (", pid, ")");
}

absl::Status MoveRound(const std::vector<pid_t>& pids, const std::string& to,
                       GroupFiles& files) {
  for (const pid_t pid : pids) {
    absl::Status status = files.Write(to + "/cgroup.procs", absl::StrCat(pid));
    const bool has_ended = kill(pid, 0) != 0 && errno == ESRCH;
    if (!status.ok() && !has_ended) return status;
  }
  return absl::OkStatus();
}

// Before Linux 5.14, there is no cgroup.kill.
void KillOneByOne(const std::string& folder, const GroupFiles& files) {
  const auto pids = ProcessesOf(folder, files);
  if (!pids.ok()) return;
  for (const pid_t pid : *pids) {
    // Processes of other pid namespaces are 0, which would be our own group.
    if (pid > 0) kill(pid, SIGKILL);
  }
}

}  // namespace

absl::StatusOr<std::vector<pid_t>> ProcessesOf(const std::string& folder,
                                               const GroupFiles& files) {
  const auto text = files.Read(folder + "/cgroup.procs");
  if (!text.ok()) return text.status();
  std::vector<pid_t> pids;
  for (absl::string_view line :
       absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(line, &pid)) pids.push_back(pid);
  }
  return pids;
}

absl::Status CheckOwnProcesses(const std::string& root,
                               const std::string& folder,
                               const GroupFiles& files) {
  const auto pids = ProcessesOf(folder, files);
  if (!pids.ok()) return pids.status();
  std::vector<std::string> others;
  for (const pid_t pid : *pids) {
    if (IsOurs(root, pid) || HasGone(root, pid)) continue;
    if (others.size() < kMaxNamed) others.push_back(Describe(root, pid));
  }
  if (others.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the control group ", folder, " of the node manager also contains ",
      absl::StrJoin(others, ", "),
      ", which must not be moved; start the node manager in a group of its own "
      "(systemd-run --scope -p Delegate=yes)"));
}

absl::Status MoveProcesses(const std::string& from, const std::string& to,
                           GroupFiles& files) {
  for (int round = 0; round < kMaxMoveRounds; ++round) {
    const auto pids = ProcessesOf(from, files);
    if (!pids.ok()) return pids.status();
    if (pids->empty()) return absl::OkStatus();
    absl::Status status = MoveRound(*pids, to, files);
    if (!status.ok()) return status;
  }
  return absl::UnavailableError(absl::StrCat(
      "processes start in the control group ", from,
      " faster than they can be moved; start the node manager in a group of "
      "its own"));
}

absl::Status LeaveGroup(const std::string& folder, const std::string& to,
                        GroupFiles& files) {
  if (!Exists(folder)) return absl::OkStatus();
  absl::Status status = MoveProcesses(folder, to, files);
  return status.ok() ? files.RemoveGroup(folder) : status;
}

void KillGroup(const std::string& folder, GroupFiles& files) {
  if (!files.Write(folder + "/cgroup.kill", "1").ok()) {
    KillOneByOne(folder, files);
  }
}

absl::Status EndAndRemoveGroup(const std::string& folder, GroupFiles& files,
                               absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  while (Exists(folder)) {
    KillGroup(folder, files);
    const auto below = files.Children(folder);
    if (!below.ok()) return Exists(folder) ? below.status() : absl::OkStatus();
    for (const std::string& name : *below) {
      absl::Status status = EndAndRemoveGroup(absl::StrCat(folder, "/", name),
                                              files, deadline - absl::Now());
      if (!status.ok()) return status;
    }
    absl::Status status = files.RemoveGroup(folder);
    if (status.ok() || absl::Now() >= deadline) return status;
    absl::SleepFor(kRemovalInterval);
  }
  return absl::OkStatus();
}

}  // namespace distbench::protection
