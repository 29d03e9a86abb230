// The names of the codes with which RPCs fail, such as "UNAVAILABLE".

#ifndef DISTBENCH_CONFIG_SYNTAX_ERROR_CODE_H_
#define DISTBENCH_CONFIG_SYNTAX_ERROR_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench::config {

// OK if the text is the name of an error of gRPC. Otherwise INVALID_ARGUMENT,
// whose message quotes the text and says what would be right.
absl::Status CheckErrorCode(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_ERROR_CODE_H_
