// The few files of /proc that tell how busy a host is.

#ifndef DISTBENCH_NODE_PROC_FILES_H_
#define DISTBENCH_NODE_PROC_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "proto/results.pb.h"

namespace distbench {

// All read below `root` (empty: the real ones). 0 or empty if the file is
// missing or not as expected.

// Of this process.
int64_t ReadResidentBytes(const std::string& root);

// Of another one, without the files that it maps: others may map them as well.
int64_t ReadPrivateBytes(const std::string& root, pid_t pid);

// Of another one, until now: CPU times to a clock tick, context switches of the
// threads that it has.
RUsage ReadUsage(const std::string& root, pid_t pid);

// Since the host started, by device.
std::map<std::string, NetworkCounters> ReadNetworkCounters(
    const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_NODE_PROC_FILES_H_
