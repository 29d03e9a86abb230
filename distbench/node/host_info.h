#ifndef DISTBENCH_NODE_HOST_INFO_H_
#define DISTBENCH_NODE_HOST_INFO_H_

#include <string>

namespace distbench {

// The host's name; "localhost" if it has none.
std::string Hostname();

// CPUs that this process may run on; at least 1.
int UsableCpuCount();

}  // namespace distbench

#endif  // DISTBENCH_NODE_HOST_INFO_H_
