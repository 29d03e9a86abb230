#include "test_builder/patterns/query_load.h"

#include <cmath>
#include <iterator>

#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/parameters/common_parameters.h"

namespace distbench::test_builder {

std::vector<Parameter> WithQueryLoad(absl::string_view default_qps,
                                     std::vector<Parameter> others) {
  std::vector<Parameter> parameters = {
      PerSecond(NumberParameter("qps", default_qps, {0.001, 1e9},
                                "Queries per second that enter the system.")),
      ExcludedBy(kArrivals,
                 ChoiceParameter("synchronization_mode", "exponential",
                                 {"constant", "exponential"},
                                 "Queries arrive at random (exponential) or at "
                                 "constant intervals.")),
      InSeconds(NumberParameter("warmup_seconds", "3", {0, 86400},
                                "Seconds at the start that are not measured.")),
  };
  parameters.insert(parameters.end(), std::make_move_iterator(others.begin()),
                    std::make_move_iterator(others.end()));
  return parameters;
}

void SetQueryLoad(const ParameterValues& values, Iterations& iterations) {
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(
      std::llround(1e9 / values.Number("qps")));
  iterations.set_open_loop_interval_distribution(
      values.Text("synchronization_mode"));
  iterations.set_warmup_ns(std::llround(values.Number("warmup_seconds") * 1e9));
}

}  // namespace distbench::test_builder
