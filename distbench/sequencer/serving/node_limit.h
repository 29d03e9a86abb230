// How many nodes a sequencer can take.

#ifndef DISTBENCH_SEQUENCER_SERVING_NODE_LIMIT_H_
#define DISTBENCH_SEQUENCER_SERVING_NODE_LIMIT_H_

#include <cstdint>

#include "distbench/sequencer/nodes/node_registry.h"

namespace distbench::sequencer {

// Files that a sequencer needs besides one for each node: for clients, for
// results, and for nodes that are refused or that come back.
inline constexpr int64_t kFilesBesidesNodes = 200;

// max_nodes, or fewer if the process may not have that many files open: a
// sequencer without files could not serve its clients either. Always at least
// one.
NodeLimit LimitNodes(int max_nodes, int64_t max_open_files);

// The number of files that this process may have open.
int64_t MaxOpenFiles();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_NODE_LIMIT_H_
