#ifndef DISTBENCH_NODE_HOST_FACTS_H_
#define DISTBENCH_NODE_HOST_FACTS_H_

#include <string>

#include "proto/results.pb.h"

namespace distbench::node {

// The host's name; "localhost" if it has none.
std::string Hostname();

// Describes this host, using /proc and /sys below `root` (empty: the real
// ones), uname(2) and the libraries of this program. Unknown facts are absent.
HostFacts ReadHostFacts(const std::string& root);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HOST_FACTS_H_
