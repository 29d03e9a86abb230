// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Controllers that a job leaves as they are (`passive=io`).

#ifndef DISTBENCH_PRODUCTS_BENCH_JOBS_PASSIVE_CONTROLS_H_
#define DISTBENCH_PRODUCTS_BENCH_JOBS_PASSIVE_CONTROLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// Parses names joined by '+': "cpu", "mem", "io", or "all" of them. Returns
// them sorted, each once. INVALID_ARGUMENT for others.
absl::StatusOr<std::vector<std::string>> ParsePassive(absl::string_view text);

// Removes the settings of these controllers from the test's controls and from
// those of its experiment, then groups without a setting, which are not valid.
void LeaveUntouched(absl::Span<const std::string> passive,
                    DistributedSystemDescription& test);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_JOBS_PASSIVE_CONTROLS_H_
