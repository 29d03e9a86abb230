// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A host's part in tests: registers with a sequencer, and runs the service
// instances that the sequencer assigns to it.

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
#include "distbench/node/node_extension.h"
#include "distbench/security/credentials.h"
#include "distbench/security/test_guards.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace grpc {
class Channel;
}

namespace distbench::hosting {
class EngineFactory;
}  // namespace distbench::hosting

namespace distbench::node {

// What the user of a node decides for all of its tests.
struct NodeSetup {
  // Address at which peers reach the services of this node. Empty: loopback if
  // all nodes of a test are on the sequencer's host, else the host's best
  // address.
  std::string service_address;

  // Address on which this node listens. Empty: services as service_address
  // says, everything else on all interfaces.
  std::string listen_address;

  // Credentials for connections to the sequencer and to other nodes; null:
  // connections are not secured.
  std::shared_ptr<const security::TlsCredentials> tls;

  // The traffic of tests is not secured, whatever there is for the sequencer.
  bool plain_traffic = false;

  // The binding of the process before it had threads, if any; applies to
  // services without a numa_binding.
  std::optional<NumaBinding> binding;

  // Threads of each instance, unless the test sets them; 0: the sequencer
  // divides the host.
  int workers_per_instance = 0;

  // What the node's user has given to products.
  NodeSettings product_settings;

  // Decide which tests may run on this node.
  security::TestGuards guards;

  // Facts about this host that are found once, because that takes long.
  HostFacts lasting_facts;
};

struct NodeManagerOptions : NodeSetup {
  // The sequencer's "HOST:PORT"; or a channel to it, such as an in-process
  // channel, whose server must outlive the NodeManager.
  std::string sequencer;
  std::shared_ptr<grpc::Channel> channel;

  // The N of the alias "nodeN" under which to register, 0 to 99999; -1 leaves
  // the choice to the sequencer.
  int preassigned_id = -1;

  // Names and values for service constraints.
  std::vector<std::pair<std::string, std::string>> attributes;

  // Port of the node's health service; 0: no health service.
  int port = 0;

  // Port of the node's metrics; absent: no metrics; 0: a free port.
  std::optional<int> metrics_port;

  // How long Start() tries to reach a sequencer.
  absl::Duration register_timeout = absl::Seconds(60);

  // How long a node that has lost its sequencer tries to register again; then
  // it ends, within a few seconds.
  absl::Duration reconnect_timeout = absl::InfiniteDuration();

  // Called once, when the sequencer has told the node to shut down, when it
  // refused the registration on a later attempt, or when it was away for longer
  // than reconnect_timeout (the status, OK or not, says which). Called
  // on a thread of the NodeManager; it must not destroy the NodeManager or shut
  // it down.
  std::function<void(absl::Status)> on_ended = [](absl::Status) {};

  // Makes the engines of tests. Null: engines run in this process, which
  // distorts the measurements (hosting/). Must outlive the NodeManager.
  hosting::EngineFactory* engines = nullptr;
};

// What a node with these options says of itself and of its host, when it
// registers.
NodeRegistration MakeRegistration(const NodeManagerOptions& options);

// Thread-safe. If a session ends unexpectedly (sequencer killed or restarted,
// link cut, silence for as long as the sequencer announced), the node ends its
// traffic. It then tries to register again, under the same alias, until it
// succeeds, is shut down, or has tried for reconnect_timeout.
class NodeManager {
 public:
  // Returns when the node is registered. The error says why it is not: there
  // was no answer within the timeout, a server other than a sequencer answered,
  // or the sequencer refused the node.
  static absl::StatusOr<std::unique_ptr<NodeManager>> Start(
      NodeManagerOptions options);

  // Shuts down.
  virtual ~NodeManager() = default;

  // Such as "node0". Changes only if another node took the alias while the
  // sequencer was away.
  virtual std::string alias() const = 0;

  // 0: no metrics.
  virtual int metrics_port() const = 0;

  // Ends the current test, hands over its measurements, and leaves the
  // sequencer; gives up after `patience`. The node does not register again.
  virtual void Leave(absl::Duration patience) = 0;

  // Stops the traffic and leaves the sequencer at once; measurements are lost
  // unless Leave() was called before. Waits for all threads of the node.
  // Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_NODE_MANAGER_H_
