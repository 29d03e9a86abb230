#ifndef DISTBENCH_BASE_FIRST_LINE_H_
#define DISTBENCH_BASE_FIRST_LINE_H_

#include <string>

namespace distbench {

// The first line of a file, such as those of /sys, without white space around
// it; empty if there is none.
std::string FirstLine(const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_BASE_FIRST_LINE_H_
