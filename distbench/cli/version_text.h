#ifndef DISTBENCH_CLI_VERSION_TEXT_H_
#define DISTBENCH_CLI_VERSION_TEXT_H_

#include <string>

namespace distbench::cli {

// What --version of each program prints, on a line:
// "distbench 1.2.3 (revision 0a1b2c3)". The revision is "unknown" unless the
// program was built with --stamp.
std::string VersionText();

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_VERSION_TEXT_H_
