#ifndef DISTBENCH_NODE_NAMES_IN_H_
#define DISTBENCH_NODE_NAMES_IN_H_

#include <string>
#include <vector>

namespace distbench::node {

// Returns the names in a folder, sorted; none if there is no such folder.
std::vector<std::string> NamesIn(const std::string& folder);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_NAMES_IN_H_
