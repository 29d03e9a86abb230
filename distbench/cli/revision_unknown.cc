#include "distbench/cli/revision.h"

namespace distbench::cli {

const char kRevision[] = "";

}  // namespace distbench::cli
