// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/version.h"

#include "absl/strings/str_cat.h"

namespace distbench::base {

std::string VersionText() {
  const absl::string_view revision = SourceRevision();
  return absl::StrCat("distbench ", ProgramVersion(), " (revision ",
                      revision.empty() ? "unknown" : revision, ")");
}

}  // namespace distbench::base
