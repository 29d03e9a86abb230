// This host, as the header of a job's report describes it.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// Describes this host, without block devices, from /proc and /sys below `root`
// (empty: the real ones) and uname(2). Unknown facts are absent.
BenchSystem ReadHostSystem(const std::string& root);

// The host's memory without what differs between two starts of it.
int64_t RoundedMemory(const BenchSystem& system);

// What the host lacks for tests of disks and memory to be comparable with those
// of other hosts, one sentence each: swap, no compressed swap (zswap), disks
// without a scheduler and without write-back throttling.
std::vector<std::string> MissedStorageRequirements(const BenchSystem& system);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_
