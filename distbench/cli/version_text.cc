#include "distbench/cli/version_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/version.h"
#include "distbench/cli/revision.h"

namespace distbench::cli {

std::string VersionText() {
  const absl::string_view revision = kRevision;
  return absl::StrCat("distbench ", base::ProgramVersion(), " (revision ",
                      revision.empty() ? "unknown" : revision, ")");
}

}  // namespace distbench::cli
