// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this program is, as results and --version say it. Everything here is
// valid forever and thread-safe.

#ifndef DISTBENCH_BASE_VERSION_H_
#define DISTBENCH_BASE_VERSION_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::base {

// The version of distbench, such as "1.2.3": the content of the file VERSION at
// the root of the source. Results say it; which processes work together is
// decided by the versions of their protocols
// (NodeRegistration.control_protocol, EngineProgram.engine_protocol).
absl::string_view ProgramVersion();

// The source revision that this program was built from, with "+" if there were
// uncommitted changes; empty unless it was built with --stamp.
absl::string_view SourceRevision();

// What --version of each program prints, on a line:
// "distbench 1.2.3 (revision 0a1b2c3)". The revision is "unknown" unless the
// program was built with --stamp.
std::string VersionText();

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_VERSION_H_
