// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Commands whose first argument takes any number of words.

#ifndef DISTBENCH_FLAGS_LAST_ARGUMENTS_H_
#define DISTBENCH_FLAGS_LAST_ARGUMENTS_H_

namespace CLI {
class App;
}

namespace distbench::flags {

// To be called when the command has all its arguments. Of one that takes any
// number of words, leaves the last ones to the required arguments behind it, as
// in `cp FILE... FOLDER`. Flags must come before the arguments then; one that
// comes later is an error, which says so.
void KeepLastArguments(CLI::App& command);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_LAST_ARGUMENTS_H_
