#include "distbench/config/syntax/response_start.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {

absl::StatusOr<StreamPlan::Start> ParseResponseStart(absl::string_view text) {
  if (text == "on_first_request") return StreamPlan::Start::kOnFirstRequest;
  if (text == "on_last_request") return StreamPlan::Start::kOnLastRequest;
  if (text == "echo") return StreamPlan::Start::kEcho;
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text),
                   " is not a way to start; must be \"on_first_request\", "
                   "\"on_last_request\" or \"echo\""));
}

}  // namespace distbench::config
