// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the product does on nodes.

#include "distbench/base/plugins.h"
#include "distbench/node/node_extension.h"
#include "distbench/products/protection/node/control_extension.h"

namespace distbench::protection {
namespace {

const base::Plugin<node::NodeExtension> kControls("protection",
                                                  new ControlExtension);

}  // namespace
}  // namespace distbench::protection
