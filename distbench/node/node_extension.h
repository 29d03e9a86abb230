// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What products do on a node: around its part of each test, and when it starts.

#ifndef DISTBENCH_NODE_NODE_EXTENSION_H_
#define DISTBENCH_NODE_NODE_EXTENSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/base/plugins.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// Texts that the user of a node gives to products, by their names. One that may
// be given several times has a line for each.
using NodeSettings = std::map<std::string, std::string, std::less<>>;

// Such a setting, which is a flag of all commands that make a node.
struct NodeSettingDeclaration {
  std::string name;         // of the flag, without dashes
  std::string placeholder;  // of its value, in help: "DIR"
  std::string help;
  bool is_repeatable = false;
};

// The node on which a product acts.
struct NodeSite {
  // The parent of /proc and /sys; empty: the real ones.
  std::string root = {};

  NodeSettings settings = {};  // those that were not given are absent or empty

  // Whether engines have processes of their own, rather than run in that of
  // the node manager.
  bool has_engine_processes = true;
};

// What the host of a node lacks for its part of a test.
struct HostLack {
  std::string message;

  // Whether the node refuses the test. If not, the test runs without it, and
  // its results say so.
  bool is_refusal = true;
};

// What a product does for a node's part of one test, from before its instances
// are made until their processes have ended. The destructor undoes what is
// left. Not thread-safe.
class TestPartExtension {
 public:
  virtual ~TestPartExtension() = default;

  // Whether processes of instances start in control groups of the product's.
  virtual bool places_processes() const { return false; }

  // A descriptor of the folder of the control group (version 2) in which the
  // instance's process is to start; -1 if that is not for this product to say.
  virtual int GroupOf(absl::string_view /*instance*/) const { return -1; }

  // What those groups have used so far, as in ResourceSample.groups. Read once
  // a second.
  virtual std::map<std::string, GroupUse> ReadUse() const { return {}; }

  // Called when the node is told to start the traffic, which begins at
  // `start_ns` of the monotonic time of `clock`. Its Unix time is the
  // sequencer's, and it outlives this.
  virtual void TrafficBegins(const base::Clock& /*clock*/,
                             int64_t /*start_ns*/) {}

  // Called when the traffic has ended, before instances are shut down.
  virtual void TrafficEnded() {}

  // Undoes everything, when the processes of all instances have ended. A second
  // call does nothing. The finding says what could not be undone.
  virtual std::optional<Finding> Undo() { return std::nullopt; }

  // Adds what is to be in the node's results; called after Undo().
  virtual void AddResults(NodeResources& /*resources*/) const {}
};

// Registered as a base::Plugin<NodeExtension>, by the name of its product.
class NodeExtension {
 public:
  virtual ~NodeExtension() = default;

  virtual std::vector<NodeSettingDeclaration> settings() const { return {}; }

  // Whether these settings are right. The error names the flag that is wrong.
  virtual absl::Status CheckSettings(const NodeSettings& /*settings*/) const {
    return absl::OkStatus();
  }

  // Called when a node starts, before it registers.
  virtual void NodeStarts(const NodeSite& /*site*/) const {}

  // Adds what the product's tests may require of a host, or depend on. `root`
  // as in NodeSite.
  virtual void AddFacts(const std::string& /*root*/,
                        HostFacts& /*facts*/) const {}

  // What TestBegins() would miss on a host of which only the facts are known,
  // perhaps in another process; the test and the instances are those that it
  // would get. Facts that are absent are not known, and nothing is missed.
  virtual std::vector<HostLack> FindLacks(
      const HostFacts& /*facts*/, const DistributedSystemDescription& /*test*/,
      const std::vector<std::string>& /*instances*/) const {
    return {};
  }

  // Called before the instances of a test are made, which is valid and
  // canonical. `instances` are those of it that this node hosts, in the order
  // in which they are made. Null if the product has nothing to do for this
  // test; an error refuses it.
  virtual absl::StatusOr<std::unique_ptr<TestPartExtension>> TestBegins(
      const NodeSite& /*site*/, const DistributedSystemDescription& /*test*/,
      const std::vector<std::string>& /*instances*/) const {
    return nullptr;
  }
};

using NodeExtensions = base::Plugins<NodeExtension>::Parts;

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_NODE_EXTENSION_H_
