#ifndef DISTBENCH_CLI_REVISION_H_
#define DISTBENCH_CLI_REVISION_H_

namespace distbench {

// Of the source that this program was built from, with "+" if there were
// changes that it does not have; empty unless it was built with --stamp.
extern const char kRevision[];

}  // namespace distbench

#endif  // DISTBENCH_CLI_REVISION_H_
