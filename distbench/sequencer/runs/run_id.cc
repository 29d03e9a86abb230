#include "distbench/sequencer/runs/run_id.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"

namespace distbench::sequencer {
namespace {

constexpr absl::string_view kShape = "00000000-000000-000";  // 0: a digit
constexpr char kTimeFormat[] = "%E4Y%m%d-%H%M%S";
constexpr int kTimeLength = 15;
constexpr int kMaxNumber = 999;

}  // namespace

bool IsRunId(absl::string_view text) {
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(),
                    [](char c, char shape) {
                      return shape == '0' ? absl::ascii_isdigit(c) : c == shape;
                    });
}

void RunIds::Follow(absl::string_view id) {
  absl::Time time;
  int number = 0;
  // Digits that are not a valid time, such as a 13th month, are ignored.
  if (!absl::ParseTime(kTimeFormat, id.substr(0, kTimeLength),
                       absl::UTCTimeZone(), &time, nullptr) ||
      !absl::SimpleAtoi(id.substr(kTimeLength + 1), &number)) {
    return;
  }
  const int64_t second = absl::ToUnixSeconds(time);
  if (second > last_second_) {
    last_second_ = second;
    last_number_ = number;
  } else if (second == last_second_) {
    last_number_ = std::max(last_number_, number);
  }
}

std::string RunIds::Next() {
  const int64_t now = clock_.UnixNs() / base::kNsPerSecond;
  if (now > last_second_) {
    last_second_ = now;
    last_number_ = 0;
  } else if (last_number_ < kMaxNumber) {
    ++last_number_;
  } else {
    ++last_second_;
    last_number_ = 0;
  }
  return absl::StrFormat(
      "%s-%03d",
      absl::FormatTime(kTimeFormat, absl::FromUnixSeconds(last_second_),
                       absl::UTCTimeZone()),
      last_number_);
}

}  // namespace distbench::sequencer
