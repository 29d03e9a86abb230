// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_TRACES_FUZZ_ENTRY_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_TRACES_FUZZ_ENTRY_H_

#include "absl/strings/string_view.h"

namespace distbench::trace_import {

// Imports any bytes as traces: the first chooses the format, whether names are
// kept and whether failures become faults, the others are the file. Aborts if a
// config that is made of them is refused.
void ImportAnything(absl::string_view input);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_TRACES_FUZZ_ENTRY_H_
