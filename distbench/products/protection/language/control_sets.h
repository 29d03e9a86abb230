// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Checks of sets of control-group settings, wherever a config has them: as a
// test's `controls`, or among those of an experiment.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_SETS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_SETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/test_validation.h"
#include "proto/experiment.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Whether the text can name a block device: "nvme0n1", or by its numbers
// "259:0".
bool IsBlockDevice(absl::string_view text);

// Adds a problem for what is wrong with a canonical set, which is at `path`,
// beyond the rules of its fields: names and globs of services (`services` are
// the ones there are), services in two groups, amounts of memory that descend,
// devices. Whether a host has the CPUs, devices and controllers, only the host
// knows.
void ValidateControlSet(const ControlSet& controls, const config::Path& path,
                        absl::Span<const std::string> services,
                        config::Problems& problems);

// Tries names and globs of services on the ones there are. All arguments must
// outlive this object.
class ServiceGlobs {
 public:
  ServiceGlobs(absl::Span<const std::string> services,
               config::Problems& problems)
      : services_(services), problems_(problems) {}

  // The services that the glob at `path` matches. Adds a problem if there are
  // none, or if it would take too long to see.
  std::vector<std::string> Find(const std::string& glob,
                                const config::Path& path);

 private:
  const absl::Span<const std::string> services_;
  config::Problems& problems_;
  int64_t tried_ = 0;
};

// Whether the group changes anything.
bool HasSettings(ControlGroup group);

// The rules of a test's own `controls`.

// Adds a problem for each rule that the test's controls break.
void ValidateControls(const config::TestValidation& validation);

// Adds warnings about the controls of a valid test, which is at `path`: more
// memory protected than a host has, weights that nothing may respect, bindings
// to CPUs that the group does not have.
void WarnOfControls(const DistributedSystemDescription& test,
                    const config::Path& path, config::Problems& warnings);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_SETS_H_
