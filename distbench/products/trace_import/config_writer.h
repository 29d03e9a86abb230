// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// From what traces say to a config that people can read and change.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/products/trace_import/provenance.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

struct NamingOptions {
  // Pseudonyms; otherwise the names of the traces, as far as a config can have
  // them. Equal names have equal pseudonyms under the same key, whatever else
  // is in the traces (unless two pseudonyms collide).
  bool hide_names = false;

  // Pseudonyms of one name differ under different keys. Without a key, whoever
  // guesses a name can check the guess.
  std::string key;
};

struct ImportedConfig {
  DistributedSystemDescription test;
  std::string text;  // the test as a file that people read, with comments
  Provenance provenance;
  std::vector<std::string> rpc_names;  // by the model's RPCs
  double arrivals_per_second = 0;      // of the test
};

// Makes a test of what requests from outside cause. Calls that only parts of
// traces show are left out, which `provenance` says. An RPC answers without
// waiting for calls that nobody waits for. If the model is only of successes,
// failures become faults of servers. `sampled_fraction` is the share of all
// requests that were traced, above 0 and at most 1. Requires arrivals.
ImportedConfig WriteConfig(const TrafficModel& model,
                           const NamingOptions& naming,
                           double sampled_fraction);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
