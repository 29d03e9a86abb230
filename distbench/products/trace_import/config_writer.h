// From what traces say to a config that people can read and change.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_

#include <string>

#include "distbench/products/trace_import/config_names.h"
#include "distbench/products/trace_import/config_text.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

struct ImportedConfig {
  DistributedSystemDescription test;
  std::string text;  // the test as a file, with comments
  Provenance provenance;
};

// Makes a test of what requests from outside cause. Calls that only parts of
// traces show are left out, which `provenance` says. If the model is only of
// successes, failures become faults of servers. `sampled_fraction` is the
// share of all requests that were traced, above 0 and at most 1. Requires
// arrivals.
ImportedConfig WriteConfig(const TrafficModel& model, const ConfigNames& names,
                           double sampled_fraction);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
