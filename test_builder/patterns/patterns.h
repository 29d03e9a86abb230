// The traffic patterns, in a file each. registry.h finds them by name.

#ifndef TEST_BUILDER_PATTERNS_PATTERNS_H_
#define TEST_BUILDER_PATTERNS_PATTERNS_H_

#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {

// Clients that keep a number of RPCs in flight to all servers.
Pattern ClientServerPattern();

// Every node queries all others, all at the same moments.
Pattern CliquePattern();

// Nodes on a grid that query neighbours, rows or columns.
Pattern RectangularPattern();

// Clients that first query an index, then the data servers.
Pattern TripartitePattern();

// Clients whose queries go to a random number of servers.
Pattern StochasticPattern();

// A load balancer, roots and leaves, with messages of 1 KiB.
Pattern MultiLevelRpcPattern();

// A load balancer, roots, and leaves whose responses have random sizes.
Pattern VariableResponseMultiLevelRpcPattern();

// A driver, aggregators and leaves, with the message sizes of a feed.
Pattern FeedAggregatorPattern();

// A client and servers that read and hash files.
Pattern StorageServicePattern();

// A client and servers that fetch features and run a model.
Pattern InferencePattern();

// A client that opens streams of messages.
Pattern StreamingPattern();

// Peers that exchange messages with sizes measured in data centres.
Pattern HomaCpNodePattern();

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_PATTERNS_PATTERNS_H_
