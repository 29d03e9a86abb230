// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/isolation_part.h"

#include "distbench/base/plugins.h"

namespace distbench::search {

absl::StatusOr<const IsolationPart*> FindIsolationPart() {
  const auto& parts = base::Plugins<IsolationPart>::All();
  if (!parts.empty()) return parts.begin()->second;
  return absl::InvalidArgumentError(
      "objectives on isolation need the product protection, which this program "
      "was built without");
}

}  // namespace distbench::search
