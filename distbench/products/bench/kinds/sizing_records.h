// Records of a storage sizing, from which it can be continued and studied.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_SIZING_RECORDS_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_SIZING_RECORDS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/bench/storage_sizing/storage_sizing.h"
#include "proto/results.pb.h"

namespace distbench::bench {

// The options that the answers depend on.
void AddSizingOptions(const SizingOptions& options, BenchValues& values);

// INVALID_ARGUMENT if one is missing or out of range.
absl::StatusOr<SizingOptions> SizingOptionsFrom(const BenchValues& values);

// Adds a probe to results.searches, which has one report for each of the
// sizing's searches.
void AddProbeRecord(const SizingProbe& probe, const search::Probe& outcome,
                    TestSequenceResults& results);

// Adds the outcomes of all records to a new sizing. INVALID_ARGUMENT if they
// are not those that it asks for: other options, or damaged records.
absl::Status Replay(const TestSequenceResults& results, StorageSizing& sizing);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_SIZING_RECORDS_H_
