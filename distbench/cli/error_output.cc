#include "distbench/cli/error_output.h"

#include <iostream>

namespace distbench {

int Fail(const absl::Status& error, int exit_code) {
  return Fail(error.message(), exit_code);
}

int Fail(absl::string_view message, int exit_code) {
  std::cerr << "distbench: " << message << std::endl;
  return exit_code;
}

}  // namespace distbench
