#include "distbench/flags/duration.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::flags {
namespace {

bool IsPlainNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c) || c == '.';
  });
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationOrSeconds(absl::string_view text) {
  return IsPlainNumber(text)
             ? config::ParseDurationWithUnit(absl::StrCat(text, "s"))
             : config::ParseDurationWithUnit(text);
}

}  // namespace distbench::flags
