// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a node reads during its part of a test, and what its operator allows.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRICS_EXTENSION_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRICS_EXTENSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/node/node_extension.h"

namespace distbench::server_metrics {

// Reads the server_metrics of a test whose reader is on this node, while there
// is traffic. A test with a command or a URL that the node's settings do not
// have is refused; without engine processes, as in a preview, where nobody can
// give settings, it runs, and nothing is read.
class MetricsExtension final : public node::NodeExtension {
 public:
  // --server_metric_url and --server_metric_command, both repeatable.
  std::vector<node::NodeSettingDeclaration> settings() const override;
  absl::Status CheckSettings(const node::NodeSettings& settings) const override;

  absl::StatusOr<std::unique_ptr<node::TestPartExtension>> TestBegins(
      const node::NodeSite& site, const DistributedSystemDescription& test,
      const std::vector<std::string>& instances) const override;
};

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRICS_EXTENSION_H_
