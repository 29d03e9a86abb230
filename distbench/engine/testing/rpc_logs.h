// What tests ask of the logs of traffic in virtual time.

#ifndef DISTBENCH_ENGINE_TESTING_RPC_LOGS_H_
#define DISTBENCH_ENGINE_TESTING_RPC_LOGS_H_

#include <string>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Returns the statistics of one RPC between two instances; empty if there are
// none.
RpcStatistics StatisticsOf(const ServiceLogs& logs, const std::string& client,
                           const std::string& server, int rpc_index = 0);

// Returns the log of one RPC between two instances, which must exist.
const RpcPerformanceLog& LogOf(const ServiceLogs& logs,
                               const std::string& client,
                               const std::string& server, int rpc_index);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_RPC_LOGS_H_
