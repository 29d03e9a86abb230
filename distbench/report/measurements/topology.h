// The services of a test, and the RPCs between them.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TOPOLOGY_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/results/rpc_totals.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// What was measured of RPCs, by their clients.
struct RpcTraffic {
  results::RpcCounts counts;

  // RPCs that were due and never sent count as failed in response_time.
  stats::Outcomes service_time;
  stats::Outcomes response_time;  // empty in closed loops

  // Absent in closed loops, and of servers.
  std::optional<OfferedLoad> offered;

  // Response times if there are any, otherwise service times. Null if neither
  // is known of all RPCs, because there was no memory left for histograms.
  const stats::Outcomes* latency() const;
};

struct TopologyService {
  std::string name;

  // As configured; of services that are not in the config, those that were
  // measured.
  int64_t instance_count = 0;

  // The addresses of an external service; otherwise empty.
  std::vector<std::string> external_addresses = {};

  // 0 for services that no other service calls; otherwise one more than the
  // highest tier of those that call it. A call that closes a cycle does not
  // count.
  int tier = 0;
};

// The RPCs of one kind that the instances of a service send.
struct TopologyEdge {
  std::string rpc;
  std::string client;
  std::string server;

  // Whether the client's main list sends it, so that nothing else causes it.
  bool is_entry = false;
  RpcTraffic traffic;
};

// The RPCs of one kind that an instance sends or serves.
struct TopologyInstance {
  std::string instance;
  std::string service;
  std::string rpc;
  bool is_server = false;
  RpcTraffic traffic;
};

struct Topology {
  // Those of the config first, in its order.
  std::vector<TopologyService> services;

  // In the order of the RPCs. Includes RPCs that were never sent.
  std::vector<TopologyEdge> edges;

  // Sorted by name. Only those that sent or served RPCs.
  std::vector<TopologyInstance> instances;
};

// Requires statistics (see results/legacy_results.h). Leaves out
// statistics that are invalid.
Topology FindTopology(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TOPOLOGY_H_
