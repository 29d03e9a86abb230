// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads the files of /proc and /sys that tell how busy a host and its processes
// are, and who uses it.

#ifndef DISTBENCH_NODE_PROC_FILES_H_
#define DISTBENCH_NODE_PROC_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/results.pb.h"

namespace distbench::node {

// All functions read below `root` (empty: the real files). What is missing, or
// not as expected, is 0, empty or absent.

// The processes of a node's engines, and the instances in each.
using EngineProcesses = std::map<pid_t, std::vector<std::string>>;

// The memory of this process and of its engines; of those without mapped files,
// because several of them may map the same.
int64_t ReadNodeBytes(const std::string& root, const EngineProcesses& engines);

// Of another process since its start: CPU times with the resolution of a clock
// tick, and context switches of its current threads.
RUsage ReadUsage(const std::string& root, pid_t pid);

// Of another process: the inodes of its sockets, of all kinds.
std::vector<uint32_t> ReadSocketInodes(const std::string& root, pid_t pid);

// Counters since the host started, by device.
std::map<std::string, NetworkCounters> ReadNetworkCounters(
    const std::string& root);

struct CpuTimes {
  HostCounters all;
  std::map<int, HostCounters> by_cpu;  // those that are online
};

// CPU times since the host started, to a clock tick.
CpuTimes ReadCpuTimes(const std::string& root);

// All other counters since the host started. Throttling is that of this
// process's control groups.
HostCounters ReadOtherCounters(const std::string& root);

// How long each thread of this process and of its engines has waited for a CPU,
// by thread id. Costs some 10 us per thread.
std::map<int, int64_t> ReadRunQueueDelaysNs(const std::string& root,
                                            const EngineProcesses& engines);

// The energy that the host uses, as its CPUs estimate or measure it (RAPL).

// A counter in microjoules that begins again at 0 after `range_uj`.
struct EnergyCounter {
  int64_t value_uj = 0;
  int64_t range_uj = 0;
};

// By domain: "package-0", and for a part of it "package-0/dram".
using EnergyCounters = std::map<std::string, EnergyCounter>;

// Reads /sys/class/powercap below `root` (empty: the real one). NOT_FOUND if
// the host has no such counters, PERMISSION_DENIED if this process may not read
// them.
absl::StatusOr<EnergyCounters> ReadEnergy(const std::string& root);

// The energy of each domain that both readings have, which must be less than a
// range apart.
std::map<std::string, int64_t> EnergyBetween(const EnergyCounters& start,
                                             const EnergyCounters& end);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_PROC_FILES_H_
