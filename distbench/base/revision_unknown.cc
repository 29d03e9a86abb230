// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/version.h"

namespace distbench::base {

absl::string_view SourceRevision() { return ""; }

}  // namespace distbench::base
