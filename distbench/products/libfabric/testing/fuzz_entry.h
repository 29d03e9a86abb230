// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_FUZZ_ENTRY_H_

#include "absl/strings/string_view.h"

namespace distbench::libfabric {

// The body of LLVMFuzzerTestOneInput(): decodes the bytes as a message of a
// peer, and as an address of one. Aborts if what was understood is not within
// the limits that wire.h promises, or if it encodes to other bytes.
void DecodeLibfabricBytes(absl::string_view bytes);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_FUZZ_ENTRY_H_
