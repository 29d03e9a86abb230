// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/memory.h"

namespace distbench::base {

int64_t ProcessThreadCount(pid_t pid) {
  int64_t count = 0;
  if (absl::SimpleAtoi(ReadTextOf(ProcFolder("", pid) + "/status", "Threads"),
                       &count)) {
    return count;
  }
  // Without /proc, only the caller's own thread is known.
  return pid == 0 ? 1 : 0;
}

void NameThread(const char* name) { pthread_setname_np(pthread_self(), name); }

int64_t TestThreadCount(pid_t pid) {
  int64_t count = 0;
  const std::string threads = ProcFolder("", pid) + "/task";
  for (const std::string& thread : NamesIn(threads)) {
    // Empty if the thread has ended meanwhile.
    const std::string name =
        FirstLine(absl::StrCat(threads, "/", thread, "/comm"));
    if (name == kWorkerThread || name == kActivityThread ||
        name == kHandlerThread) {
      ++count;
    }
  }
  return count;
}

int UsableCpuCount() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  // More CPUs than the set has room for.
  return std::max(1u, std::thread::hardware_concurrency());
}

namespace {

// More threads than any test needs on a node.
constexpr int64_t kPlenty = 20'000;

void Limit(int64_t allowed, int64_t used, const std::string& limit,
           ThreadRoom& room) {
  const int64_t left = std::max<int64_t>(0, allowed - used);
  if (left >= room.left) return;
  room = {.left = left, .limit = absl::StrCat(limit, ", and has ", used)};
}

void LimitByControlGroups(const std::string& root, ThreadRoom& room) {
  for (const ControlGroupFolder& group : ControlGroupsOf("pids", root)) {
    const auto allowed = ReadNumber(group.folder + "/pids.max");
    const auto used = ReadNumber(group.folder + "/pids.current");
    if (!allowed || !used) continue;
    Limit(*allowed, *used,
          absl::StrCat("its control group allows ", *allowed,
                       " threads (pids.max; under systemd TasksMax)"),
          room);
  }
}

// The fourth word of /proc/loadavg is RUNNING/ALL. 0 if unknown.
int64_t ThreadsOfHost(const std::string& root) {
  std::ifstream file(root + "/proc/loadavg");
  std::string skipped;
  int64_t running = 0;
  char slash = 0;
  int64_t all = 0;
  file >> skipped >> skipped >> skipped >> running >> slash >> all;
  return file ? all : 0;
}

void LimitByKernel(const std::string& root, ThreadRoom& room) {
  const auto allowed = ReadNumber(root + "/proc/sys/kernel/threads-max");
  if (!allowed) return;
  Limit(*allowed, ThreadsOfHost(root),
        absl::StrCat("this host allows ", *allowed,
                     " threads (kernel.threads-max)"),
        room);
}

// Counts the threads of all processes of a real user.
int64_t ThreadsOfUser(const std::string& root, uid_t user) {
  int64_t count = 0;
  for (const std::string& name : NamesIn(root + "/proc")) {
    std::ifstream status(absl::StrCat(root, "/proc/", name, "/status"));
    int64_t uid = -1;
    int64_t threads = 0;
    for (std::string word; status >> word && threads == 0;) {
      if (word == "Uid:") status >> uid;
      if (word == "Threads:") status >> threads;
    }
    if (uid == user) count += threads;
  }
  return count;
}

// The kernel exempts root. Looks at all processes only if the user might be
// near the limit, assuming that all threads of the host are the user's.
void LimitByUser(const std::string& root, ThreadRoom& room) {
  rlimit limit;
  if (getuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return;
  }
  const auto allowed = static_cast<int64_t>(limit.rlim_cur);
  if (allowed - ThreadsOfHost(root) >= kPlenty) return;
  Limit(allowed, ThreadsOfUser(root, getuid()),
        absl::StrCat("its user may have ", allowed,
                     " threads (ulimit -u; under systemd LimitNPROC)"),
        room);
}

}  // namespace

ThreadRoom ReadThreadRoom(const std::string& root) {
  ThreadRoom room;
  LimitByControlGroups(root, room);
  LimitByKernel(root, room);
  LimitByUser(root, room);
  return room;
}

int64_t ReadThreadRefusals(const std::string& root) {
  int64_t refusals = 0;
  for (const ControlGroupFolder& group : ControlGroupsOf("pids", root)) {
    refusals += ReadNumberOf(group.folder + "/pids.events", "max").value_or(0);
  }
  return refusals;
}

}  // namespace distbench::base
