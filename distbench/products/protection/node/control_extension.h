// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Control groups around a node's part of each test.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_NODE_CONTROL_EXTENSION_H_
#define DISTBENCH_PRODUCTS_PROTECTION_NODE_CONTROL_EXTENSION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/node/node_extension.h"
#include "distbench/products/protection/control_groups/applied_controls.h"

namespace distbench::protection {

// Puts the instances of a test with controls into groups, makes the settings,
// reads them back and undoes them. If controls are impossible, a test whose
// controls are strict is refused, and the results of others have proofs that do
// not hold. When a node starts, it undoes what node managers that have died
// left behind.
class ControlExtension final : public node::NodeExtension {
 public:
  // Of the host, a root and a state folder that are empty are those of the
  // node.
  explicit ControlExtension(ControlHost host = {}) : host_(std::move(host)) {}

  // The state folder.
  std::vector<node::NodeSettingDeclaration> settings() const override;

  void NodeStarts(const node::NodeSite& site) const override;
  void AddFacts(const std::string& root, HostFacts& facts) const override;
  std::vector<node::HostLack> FindLacks(
      const HostFacts& facts, const DistributedSystemDescription& test,
      const std::vector<std::string>& instances) const override;
  absl::StatusOr<std::unique_ptr<node::TestPartExtension>> TestBegins(
      const node::NodeSite& site, const DistributedSystemDescription& test,
      const std::vector<std::string>& instances) const override;

 private:
  ControlHost HostOf(const node::NodeSite& site) const;

  const ControlHost host_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_NODE_CONTROL_EXTENSION_H_
