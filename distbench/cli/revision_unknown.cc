#include "distbench/cli/revision.h"

namespace distbench {

const char kRevision[] = "";

}  // namespace distbench
