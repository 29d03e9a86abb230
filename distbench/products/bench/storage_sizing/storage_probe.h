// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs the probes of a storage sizing as tests.

#ifndef DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_PROBE_H_
#define DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/bench/storage_sizing/storage_sizing.h"
#include "distbench/products/search/search_run.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// The traffic of a probe: the warm-up, and the measured time of ordinary and of
// final probes. Files are in the page cache from the start as far as they fit;
// with larger ones, the warm-up is the time in which the kernel learns which
// part is hot.
struct SizingTiming {
  absl::Duration warmup = absl::Seconds(5);
  absl::Duration probe = absl::Seconds(10);
  absl::Duration final_run = absl::Seconds(30);
};

// Checks that the canonical test can be sized: it has one activity "Storage",
// whose pool says how many iterations are done at a time if it uses anonymous
// memory, and its main lists start requests in open loops, such as the pattern
// storage_service. INVALID_ARGUMENT says what is missing.
absl::Status CheckSizable(const DistributedSystemDescription& test);

// The test with the probe's work and load, ready to run. The share of memory in
// the footprint is that of memory in the hashed bytes. Requires
// CheckSizable().
absl::StatusOr<DistributedSystemDescription> SizedTest(
    const DistributedSystemDescription& test, const SizingProbe& probe,
    const SizingTiming& timing);

// The test with the sizes that were found, and its own load.
DistributedSystemDescription WithSizes(DistributedSystemDescription test,
                                       const StorageSizes& sizes);

// Runs a probe and judges it. `rpc` is the one whose requests count; empty: the
// test's only one. Errors are those of `run`, or say why the run says nothing
// about the host.
absl::StatusOr<search::Probe> RunSizingProbe(
    const DistributedSystemDescription& test, const std::string& rpc,
    const SizingProbe& probe, const SizingTiming& timing,
    const search::TestRunner& run);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_PROBE_H_
