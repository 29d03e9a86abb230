// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The activities that stand for a noisy neighbour: each puts pressure on one
// resource of its host, and says how much it did. Configs name them like any
// other; this product's plug-in registers them. Their settings are data
// (catalog.proto).

#ifndef DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_ANTAGONIST_ACTIVITIES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_ANTAGONIST_ACTIVITIES_H_

#include "distbench/config/catalogs/activity_catalog.h"

namespace distbench::protection {

config::ActivityDeclaration BurnCpuActivity();
config::ActivityDeclaration GrowMemoryActivity();
config::ActivityDeclaration MemoryBandwidthActivity();
config::ActivityDeclaration CacheThrashActivity();
config::ActivityDeclaration ForkStormActivity();

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_ANTAGONIST_ACTIVITIES_H_
