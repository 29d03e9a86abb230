// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Archives of files in memory.

#ifndef DISTBENCH_PRODUCTS_BENCH_FILES_TARBALL_H_
#define DISTBENCH_PRODUCTS_BENCH_FILES_TARBALL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace distbench::bench {

struct PackedFile {
  std::string name;  // relative, with '/' between folders
  std::string bytes;
};

// Writes a tar archive compressed by gzip, which appears only when it is
// complete. Equal files give equal archives: they have no owners, and the epoch
// as their time. The error names the path.
absl::Status WriteTarball(absl::Span<const PackedFile> files,
                          const std::string& path);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_FILES_TARBALL_H_
