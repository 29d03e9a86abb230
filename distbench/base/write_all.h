#ifndef DISTBENCH_BASE_WRITE_ALL_H_
#define DISTBENCH_BASE_WRITE_ALL_H_

#include "absl/strings/string_view.h"

namespace distbench::base {

// Writes all of the bytes to a file, pipe or device, in as many calls of
// write(2) as that takes. Returns false and sets errno at the first error; some
// of the bytes may have been written then.
bool WriteAll(int descriptor, absl::string_view bytes);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_WRITE_ALL_H_
