// What RPCs and activities cost on a simulated host, drawn from what the fabric
// says. Immutable, so that all hosts share one.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/plan.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Factors of mean 1 that are lognormally distributed: 1 024 quantiles of that
// distribution, of which each draw chooses one.
class LognormalFactors {
 public:
  // sigma: the standard deviation of the logarithm.
  explicit LognormalFactors(double sigma);

  double Draw(base::WorkRandom& random) const {
    return factors_[random.Below(factors_.size())];
  }

 private:
  std::array<double, 1024> factors_;
};

// The costs of one driver.
struct RpcCosts {
  struct Line {
    explicit Line(const StackCosts::Cost& cost)
        : fixed_ns(cost.fixed_ns()),
          ns_per_byte(cost.ns_per_byte()),
          batch_ns(cost.batch_ns()),
          after_ns(cost.after_ns()) {}
    double Of(int64_t bytes) const {
      return fixed_ns + ns_per_byte * static_cast<double>(bytes);
    }

    double fixed_ns;
    double ns_per_byte;
    double batch_ns;
    double after_ns;
  };
  explicit RpcCosts(const StackCosts& costs);

  // Whether messages that have arrived together are received together. Without
  // costs of batches there is nothing that they could share.
  bool has_batches() const {
    return server_receive.batch_ns > 0 || server_send.batch_ns > 0 ||
           client_send.batch_ns > 0 || client_receive.batch_ns > 0;
  }

  Line client_send;
  Line server_receive;
  Line server_send;
  Line client_receive;
  double wakeup_ns;
  double wakeup_cpu_ns;
  int64_t same_host_delay_ns;
  LognormalFactors variation;
};

// The CPU time of an activity's iterations.
struct IterationCosts {
  explicit IterationCosts(const ActivityCosts& costs)
      : cpu_ns(costs.cpu_ns()), variation(costs.sigma()) {}

  double cpu_ns;
  LognormalFactors variation;
};

// By Plan::activities; null if no instance runs the activity, or if it only
// waits.
using CostsByActivity = std::vector<std::unique_ptr<const IterationCosts>>;

// The costs of all activities that instances run. FAILED_PRECONDITION names
// those that the fabric has no costs of, one per line.
absl::StatusOr<CostsByActivity> CostsOfActivities(const SimulatedFabric& fabric,
                                                  const config::Plan& plan);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
