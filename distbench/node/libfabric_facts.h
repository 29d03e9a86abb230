// The providers of libfabric that this host can use. A child process looks for
// them, because a provider's library may hang, crash or start threads.

#ifndef DISTBENCH_NODE_LIBFABRIC_FACTS_H_
#define DISTBENCH_NODE_LIBFABRIC_FACTS_H_

#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "proto/results.pb.h"

namespace distbench::node {

// The subcommand that the child runs: it calls TellLibfabricProviders().
inline constexpr char kLibfabricProvidersSubcommand[] = "libfabric_providers";

// Tells the process that has started this one, which sees no other facts than
// those below. Returns false if no process waits for them.
bool TellLibfabricProviders(const HostFacts& facts);

// Starts this program again with kLibfabricProvidersSubcommand, which it must
// implement, and waits for some seconds. Sets libfabric_providers, or
// libfabric_problem if they cannot be known.
HostFacts FindLibfabricProviders();

// As above, with a program that may be any, and up to `patience`.
HostFacts FindLibfabricProviders(base::ChildProgram program,
                                 absl::Duration patience);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_LIBFABRIC_FACTS_H_
