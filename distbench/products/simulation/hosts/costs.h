// What RPCs cost on a simulated host, drawn from StackCosts.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_

#include <array>
#include <cstdint>

#include "distbench/base/work_random.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Factors of mean 1 that are lognormally distributed: 1 024 quantiles of that
// distribution, of which each draw chooses one. Immutable.
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

// The costs of one driver. Immutable, so that all hosts share one.
struct RpcCosts {
  struct Line {
    double fixed_ns = 0;
    double ns_per_byte = 0;
    double batch_ns = 0;
    double after_ns = 0;
    double Of(int64_t bytes) const {
      return fixed_ns + ns_per_byte * static_cast<double>(bytes);
    }
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

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
