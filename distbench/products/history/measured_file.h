// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What an index keeps of a file of results.

#ifndef DISTBENCH_PRODUCTS_HISTORY_MEASURED_FILE_H_
#define DISTBENCH_PRODUCTS_HISTORY_MEASURED_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/history.pb.h"
#include "distbench/products/history/result_source.h"

namespace distbench::history {

// Takes the figures of reports. Percentiles that the number of requests does
// not support have no points. An error is the file's problem.
IndexedFile MeasureFile(const ResultEntry& entry,
                        absl::StatusOr<KeptResults> kept);

// A number that stays the same for the name, and that JavaScript can hold.
int64_t HashOf(absl::string_view name);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_MEASURED_FILE_H_
