#include "test_builder/parameters/common_parameters.h"

#include <cmath>

#include "test_builder/parameters/arrivals_text.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kTimeoutMarginSeconds = 120;
constexpr double kMaxDurationSeconds = 30 * 24 * 3600;

}  // namespace

const std::vector<Parameter>& CommonParameters() {
  static const auto& parameters = *new std::vector<Parameter>{
      InSeconds(
          NumberParameter("test_duration", "30", {0.001, kMaxDurationSeconds},
                          "Seconds of traffic; -t sets it for all tests.")),
      InSeconds(IntegerParameter("test_timeout", "", {1},
                                 "Time limit of the test in seconds. Default: "
                                 "test_duration + 120.")),
      ChoiceParameter("ip_version", "", {"4", "6"},
                      "IP version; also as a bare word, ipv4 or ipv6. "
                      "Default: the host's choice."),
      ArrivalsParameter(
          kArrivals,
          "Arrival process of the open loops, whose rate is that of factor 1, "
          "such as gamma:3, exponential+sine:1m:0.5 or bursts:5:1s:9s."),
      TextParameter("extra_test_contents", "",
                    "Fields in text format, added to the test; usually "
                    "extra_test_contents=<FILE."),
  };
  return parameters;
}

int64_t TestDurationUs(const ParameterValues& values) {
  return std::llround(values.Number("test_duration") * 1e6);
}

int64_t TestTimeoutSeconds(const ParameterValues& values) {
  if (values.Has("test_timeout")) return values.Integer("test_timeout");
  return std::llround(std::ceil(values.Number("test_duration"))) +
         kTimeoutMarginSeconds;
}

}  // namespace distbench::test_builder
