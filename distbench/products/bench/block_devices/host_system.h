// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// This host, as the header of a job's report describes it.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// Block devices as /sys describes them.

// In all of these, `root` is the folder that holds proc and sys: empty for the
// real ones.

// Returns the name of the disk on which a file or folder is, such as "nvme0n1"
// (of a partition: its whole disk). NOT_FOUND if there is no such file.
// FAILED_PRECONDITION, with its name, for what is no single disk: memory and
// network file systems and block devices, overlays, and devices made of others
// (device mapper, RAID, loop devices), whose costs are not those of a disk.
absl::StatusOr<std::string> DiskOfFile(const std::string& path,
                                       const std::string& root);

// Same, for a device number such as "259:1".
absl::StatusOr<std::string> DiskOfNumber(const std::string& number,
                                         const std::string& root);

// The device that is mounted where `path` is, such as "/dev/sda1"; empty if
// none is. `path` is absolute and has no links; `mounts` has the format of
// /proc/self/mountinfo.
std::string MountedDevice(absl::string_view mounts, absl::string_view path);

// Describes a disk. Unknown facts are absent.
BlockDeviceFacts ReadBlockDevice(const std::string& disk,
                                 const std::string& root);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_HOST_SYSTEM_H_
