#ifndef DISTBENCH_BASE_VERSION_H_
#define DISTBENCH_BASE_VERSION_H_

#include "absl/strings/string_view.h"

namespace distbench::base {

// The version of distbench, such as "1.2.3": the content of the file VERSION at
// the root of the source. All processes of a cluster must have the same. Valid
// forever; thread-safe.
absl::string_view ProgramVersion();

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_VERSION_H_
