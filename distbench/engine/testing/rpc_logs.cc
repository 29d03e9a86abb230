#include "distbench/engine/testing/rpc_logs.h"

namespace distbench::engine {

RpcStatistics StatisticsOf(const ServiceLogs& logs, const std::string& client,
                           const std::string& server, int rpc_index) {
  const auto log = logs.instance_logs().find(client);
  if (log == logs.instance_logs().end()) return {};
  const auto peer = log->second.peer_logs().find(server);
  if (peer == log->second.peer_logs().end()) return {};
  for (const auto* rpcs :
       {&peer->second.rpc_logs(), &peer->second.replay_logs()}) {
    const auto rpc = rpcs->find(rpc_index);
    if (rpc != rpcs->end()) return rpc->second.statistics();
  }
  return {};
}

const RpcPerformanceLog& LogOf(const ServiceLogs& logs,
                               const std::string& client,
                               const std::string& server, int rpc_index) {
  return logs.instance_logs().at(client).peer_logs().at(server).rpc_logs().at(
      rpc_index);
}

}  // namespace distbench::engine
