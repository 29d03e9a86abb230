// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The providers of libfabric that this host can use. A child process looks for
// them, because a provider's library may hang, crash or start threads.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_HOST_PROVIDERS_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_HOST_PROVIDERS_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/cli/command.h"
#include "proto/results.pb.h"

namespace distbench::libfabric {

// The hidden subcommand that the child runs.
inline constexpr char kProvidersSubcommand[] = "libfabric_providers";
void AddProvidersCommand(CLI::App& app, cli::CommandBody& chosen);

// What it does: tells the process that has started this one, which sees no
// other facts than those below. Returns false if no process waits for them.
bool TellProviders(const HostFacts& facts);

// Starts this program again with kProvidersSubcommand, which it must
// implement, and waits for some seconds. Sets libfabric_providers, or
// libfabric_problem if they cannot be known.
HostFacts FindProviders();

// As above, with a program that may be any, and up to `patience`.
HostFacts FindProviders(base::ChildProgram program, absl::Duration patience);

// The fact of hosts that tests may require: the names of their providers, whole
// and without their utility layers, so that "tcp" stands for "tcp;ofi_rxm" as
// in the driver's setting. Nothing if the host reports none.
std::optional<std::string> ProvidersOf(const HostFacts& host);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_HOST_PROVIDERS_H_
