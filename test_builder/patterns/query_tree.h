#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_TREE_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_TREE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// qps, root_count and leaf_count.
std::vector<Parameter> QueryTreeParameters();

// Adds a load balancer that sends qps queries per second to the roots in turn.
// Each root queries all leaves before it answers. Root queries carry 1 KiB in
// each direction. `arrivals` is an open_loop_interval_distribution; empty means
// the default. Returns the RPC from root to leaf, whose sizes the caller must
// set.
RpcSpec& AddQueryTree(DistributedSystemDescription& test,
                      const ParameterValues& values,
                      absl::string_view arrivals);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_TREE_H_
