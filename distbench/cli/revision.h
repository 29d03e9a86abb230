#ifndef DISTBENCH_CLI_REVISION_H_
#define DISTBENCH_CLI_REVISION_H_

namespace distbench::cli {

// The source revision that this program was built from, with "+" if there were
// uncommitted changes; empty unless it was built with --stamp.
extern const char kRevision[];

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_REVISION_H_
