// Reads the files of /proc that tell how busy a host is, and who uses it.

#ifndef DISTBENCH_NODE_PROC_FILES_H_
#define DISTBENCH_NODE_PROC_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench {

// All functions read below `root` (empty: the real files). They return 0 or an
// empty result if the file is missing or malformed.

// Of this process.
int64_t ReadResidentBytes(const std::string& root);

// Of another process, without mapped files, because other processes may map
// them, too.
int64_t ReadPrivateBytes(const std::string& root, pid_t pid);

// Of another process since its start: CPU times with the resolution of a clock
// tick, and context switches of its current threads.
RUsage ReadUsage(const std::string& root, pid_t pid);

// Of another process: the inodes of its sockets, of all kinds.
std::vector<uint32_t> ReadSocketInodes(const std::string& root, pid_t pid);

// Counters since the host started, by device.
std::map<std::string, NetworkCounters> ReadNetworkCounters(
    const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_NODE_PROC_FILES_H_
