#ifndef DISTBENCH_BASE_FIRST_LINE_H_
#define DISTBENCH_BASE_FIRST_LINE_H_

#include <string>

namespace distbench {

// Returns the first line of a file, such as those of /sys, without surrounding
// white space; empty if there is none.
std::string FirstLine(const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_BASE_FIRST_LINE_H_
