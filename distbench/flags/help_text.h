// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What --help prints. CLI11 can do so as well, and differently in each of its
// versions.

#ifndef DISTBENCH_FLAGS_HELP_TEXT_H_
#define DISTBENCH_FLAGS_HELP_TEXT_H_

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace distbench::flags {

// Ends with a line break, as FlagsHelp() does.
std::string HelpText(const CLI::App& command);

// The part of it about flags, whose names take `columns`.
std::string FlagsHelp(const CLI::App& command, size_t columns);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_HELP_TEXT_H_
