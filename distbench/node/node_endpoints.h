// Serves a node's health over gRPC, and its metrics over HTTP.

#ifndef DISTBENCH_NODE_NODE_ENDPOINTS_H_
#define DISTBENCH_NODE_NODE_ENDPOINTS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/metrics/metrics_server.h"
#include "distbench/node/traffic_metrics.h"
#include "distbench/security/credentials.h"

namespace grpc {
class Server;
}

namespace distbench::node {

struct NodeEndpointOptions {
  // Address to listen on; empty: all interfaces.
  std::string listen_address;
  std::shared_ptr<const security::TlsCredentials> tls;  // of the health service

  // Port of the health service; 0: no health service.
  int health_port = 0;

  // Port of the metrics; absent: no metrics; 0: a free port.
  std::optional<int> metrics_port;
};

// Thread-safe.
class NodeEndpoints {
 public:
  NodeEndpoints();
  ~NodeEndpoints();

  // Listens. The error says what is wrong with an address.
  absl::Status Start(const NodeEndpointOptions& options);

  // 0: no metrics.
  int metrics_port() const;

  // A node is healthy while it is registered.
  void SetRegistered(bool registered) ABSL_LOCKS_EXCLUDED(mutex_);

  // The traffic that the metrics tell of.
  TrafficMetrics& traffic() { return traffic_; }

 private:
  absl::Status StartHealth(const NodeEndpointOptions& options);
  std::vector<prometheus::MetricFamily> Metrics() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  bool registered_ ABSL_GUARDED_BY(mutex_) = false;
  TrafficMetrics traffic_;

  std::unique_ptr<grpc::Server> health_;
  std::unique_ptr<metrics::MetricsServer> metrics_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_NODE_ENDPOINTS_H_
