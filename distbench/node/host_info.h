#ifndef DISTBENCH_NODE_HOST_INFO_H_
#define DISTBENCH_NODE_HOST_INFO_H_

#include <string>

namespace distbench {

// The host's name; "localhost" if it has none.
std::string Hostname();

}  // namespace distbench

#endif  // DISTBENCH_NODE_HOST_INFO_H_
