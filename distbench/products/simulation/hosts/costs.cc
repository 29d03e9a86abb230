#include "distbench/products/simulation/hosts/costs.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>

namespace distbench::simulation {
namespace {

RpcCosts::Line LineOf(const StackCosts::Cost& cost) {
  return {cost.fixed_ns(), cost.ns_per_byte(), cost.batch_ns(),
          cost.after_ns()};
}

}  // namespace

LognormalFactors::LognormalFactors(double sigma) {
  const boost::math::normal standard;
  double sum = 0;
  for (size_t i = 0; i < factors_.size(); ++i) {
    const double share = (i + 0.5) / factors_.size();
    factors_[i] = std::exp(sigma * boost::math::quantile(standard, share));
    sum += factors_[i];
  }
  for (double& factor : factors_) factor *= factors_.size() / sum;
}

RpcCosts::RpcCosts(const StackCosts& costs)
    : client_send(LineOf(costs.client_send())),
      server_receive(LineOf(costs.server_receive())),
      server_send(LineOf(costs.server_send())),
      client_receive(LineOf(costs.client_receive())),
      wakeup_ns(costs.wakeup_ns()),
      wakeup_cpu_ns(costs.wakeup_cpu_ns()),
      same_host_delay_ns(costs.same_host_delay_ns()),
      variation(costs.sigma()) {}

}  // namespace distbench::simulation
