// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests of traces of Chakra share.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_CHAKRA_TESTING_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_CHAKRA_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/chakra/nodes.h"

namespace distbench::trace_import {

// Nodes of the accelerator. Communications are of all ranks.
ChakraNode Computes(uint64_t id, int64_t duration_us,
                    std::vector<uint64_t> after);
ChakraNode AllReduces(uint64_t id, int64_t bytes, std::vector<uint64_t> after);
ChakraNode Sends(uint64_t id, int64_t to, std::vector<uint64_t> after);
ChakraNode Receives(uint64_t id, int64_t from, std::vector<uint64_t> after);

// The file of a rank (.et), of version 1.0.0 of the schema.
std::string ChakraFile(const std::vector<ChakraNode>& nodes);

// Imports any bytes as traces of Chakra: the first chooses the number of ranks,
// and whether the others are one file or two. Aborts if a config that is made
// of them is refused.
void ImportAnyJob(absl::string_view input);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_CHAKRA_TESTING_H_
