#include "distbench/base/version.h"

namespace distbench::base {

absl::string_view SourceRevision() { return ""; }

}  // namespace distbench::base
