#include "distbench/base/first_line.h"

#include <fstream>

#include "absl/strings/ascii.h"

namespace distbench {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

}  // namespace distbench
