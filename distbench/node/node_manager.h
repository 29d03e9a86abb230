// A host's part in tests: registers with a sequencer and runs the service
// instances that it is told to.

#ifndef DISTBENCH_NODE_NODE_MANAGER_H_
#define DISTBENCH_NODE_NODE_MANAGER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/security/credentials.h"
#include "proto/traffic_config.pb.h"

namespace grpc {
class Channel;
}

namespace distbench {

class EngineFactory;

struct NodeManagerOptions {
  // The sequencer's "HOST:PORT"; or a channel to it, such as one to the same
  // process, whose server must outlive the NodeManager.
  std::string sequencer;
  std::shared_ptr<grpc::Channel> channel;

  // The N of the alias "nodeN" under which to register, 0 to 99999; -1 leaves
  // the choice to the sequencer.
  int preassigned_id = -1;

  // Name and value, for service constraints.
  std::vector<std::pair<std::string, std::string>> attributes;

  // Address at which peers reach the services of this node. Empty: loopback if
  // all nodes of a test are on the sequencer's host, else the host's best
  // address.
  std::string service_address;

  // Address that everything here listens on; empty: services as
  // service_address says, the rest on all interfaces.
  std::string listen_address;

  // What the process was bound to before it had threads, if it was; holds for
  // services without a numa_binding.
  std::optional<NumaBinding> binding;

  // Threads of each instance here, where the test does not say; 0: as the
  // sequencer divides the host.
  int workers_per_instance = 0;

  // Port of the node's health service; 0: none.
  int port = 0;

  // Port of the node's metrics; absent: none; 0: a free one.
  std::optional<int> metrics_port;

  // How connections to the sequencer and to other nodes are secured; null: not
  // at all.
  std::shared_ptr<const TlsCredentials> tls;

  // How long Start() tries to reach a sequencer.
  absl::Duration register_timeout = absl::Seconds(60);

  // Called once, when the sequencer has told the node to end or when the
  // registration was refused on a later attempt (status says which). On a
  // thread of the NodeManager, which it must not destroy or shut down.
  std::function<void(absl::Status)> on_ended = [](absl::Status) {};

  // Who makes the engines of tests; null: they run in this process, which falsifies
  // what they measure (hosting/). Must outlive the NodeManager.
  EngineFactory* engines = nullptr;
};

// Thread-safe. A session that ends without being told to (sequencer killed or
// restarted, link cut, nothing heard for as long as the sequencer announced)
// ends the traffic of this node; when nothing of it is left, the node tries to
// register again, under the same alias, until it succeeds or is shut down.
class NodeManager {
 public:
  // Returns once the node is registered. The error says why it is not: nothing
  // answered within the timeout, something else than a sequencer did, or the
  // sequencer refused.
  static absl::StatusOr<std::unique_ptr<NodeManager>> Start(
      NodeManagerOptions options);

  // Shuts down.
  ~NodeManager();

  NodeManager(const NodeManager&) = delete;
  NodeManager& operator=(const NodeManager&) = delete;

  // Such as "node0". Changes only if another node took it while the sequencer
  // was away.
  std::string alias() const;

  // 0: none.
  int metrics_port() const;

  // Ends the test that the node takes part in, hands over what it measured, and
  // leaves the sequencer; gives up after `patience`. No session follows.
  void Leave(absl::Duration patience);

  // Stops traffic and leaves the sequencer at once: what was measured is lost,
  // unless Leave() came first. Idempotent; waits until no thread of the node is
  // left.
  void Shutdown();

 private:
  class Impl;
  explicit NodeManager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_NODE_MANAGER_H_
