#include "distbench/config/syntax/error_code.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// gRPC's codes have the numbers of Abseil's; 0 is success.
constexpr int kLastErrorCode = 16;

std::vector<std::string> ErrorCodeNames() {
  std::vector<std::string> names;
  for (int code = 1; code <= kLastErrorCode; ++code) {
    names.push_back(
        absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
  }
  return names;
}

}  // namespace

absl::Status CheckErrorCode(absl::string_view text) {
  const std::vector<std::string> names = ErrorCodeNames();
  if (std::count(names.begin(), names.end(), text) > 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quoted(text), " is not the code of an error; ", Suggestion(text, names)));
}

}  // namespace distbench::config
