#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_STREAM_CHECK_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_STREAM_CHECK_H_

#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Returns what is wrong with the messages of an RPC that streams as planned:
// streams that succeed have all of them. Empty if nothing is.
std::vector<std::string> CheckMessages(const StreamStatistics& statistics,
                                       const config::StreamPlan& plan);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_STREAM_CHECK_H_
