#ifndef DISTBENCH_NODE_HOST_FACTS_H_
#define DISTBENCH_NODE_HOST_FACTS_H_

#include <string>

#include "proto/results.pb.h"

namespace distbench {

// What this host is, from /proc and /sys below `root` (empty: the real ones),
// uname(2) and the libraries that this program was built with. What can not be
// found out stays absent.
HostFacts ReadHostFacts(const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_NODE_HOST_FACTS_H_
