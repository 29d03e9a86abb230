// What the kernel's files say, compared with what was written to them.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_READ_BACK_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_READ_BACK_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::protection {

// Whether the file has a line for each device, such as
// "259:0 rbps=max wbps=1048576", and a value is about the device that it names.
bool HasDevices(absl::string_view file);

// Whether the text of a file means a value that was written to it. The kernel
// sorts lists of CPUs, has a line for each device, of which a value names one,
// adds keys that the value leaves open, and omits limits that are none.
bool Says(absl::string_view file, absl::string_view text,
          absl::string_view value);

// Returns the part of the text that `value` is about: the line of its device,
// or everything. Without white space around it; empty if there is none.
std::string RelevantPart(absl::string_view file, absl::string_view text,
                         absl::string_view value);

// Returns what to write to make `value` undone, after which the file means the
// same as `text`, which it said before.
std::string UndoingValue(absl::string_view file, absl::string_view text,
                         absl::string_view value);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_READ_BACK_H_
