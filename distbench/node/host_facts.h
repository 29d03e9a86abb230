#ifndef DISTBENCH_NODE_HOST_FACTS_H_
#define DISTBENCH_NODE_HOST_FACTS_H_

#include <string>

#include "proto/results.pb.h"

namespace distbench::node {

// The host's name; "localhost" if it has none.
std::string Hostname();

// Facts about this host that take long to find. A product adds its own with
// base::Plugin<node::LastingFacts>.
struct LastingFacts {
  HostFacts (*find)();
};

// Those of all products together.
HostFacts FindLastingFacts();

// Describes this host with all other facts, using /proc and /sys below `root`
// (empty: the real ones), uname(2), the libraries of this program, and what
// NodeExtensions add. Unknown facts are absent.
HostFacts ReadHostFacts(const std::string& root);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HOST_FACTS_H_
