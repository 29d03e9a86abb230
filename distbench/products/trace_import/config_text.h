// A test as a file that people read.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_TEXT_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

// Where the parts of an imported config are from: a sentence each.
struct Provenance {
  std::vector<std::string> in_the_data;
  std::vector<std::string> inferred;
  std::vector<std::string> invented;
};

// A piece of a test, with a comment of some lines above it; empty: none.
struct ConfigPart {
  std::string comment;
  DistributedSystemDescription content;
};

// The test of all parts, below what is known about where they are from.
std::string ConfigText(const Provenance& from,
                       const std::vector<ConfigPart>& parts);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_TEXT_H_
