#include "distbench/products/search/testing/simulated_queue.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace distbench::search {
namespace {

using Visit = absl::FunctionRef<void(double arrival, double response)>;

void SimulateFirstComeFirstServed(const SimulatedQueue& queue, double load,
                                  double seconds, std::mt19937_64& random,
                                  Visit visit) {
  std::exponential_distribution<> gap(load);
  std::exponential_distribution<> service(queue.service_rate);
  double waiting = 0;
  double now = 0;
  while (true) {
    const double step = gap(random);
    now += step;
    if (now >= seconds) return;
    waiting = std::max(0.0, waiting - step);
    waiting += queue.kind == QueueKind::kFixedService ? 1 / queue.service_rate
                                                      : service(random);
    visit(now, waiting);
  }
}

// All requests present are served at equal rates. `served` is how much service
// a request would have received that was present from the start, so that each
// request ends at a value of it that is known when the request arrives.
class SharedProcessor {
 public:
  explicit SharedProcessor(Visit visit) : visit_(visit) {}

  void Arrive(double service) { ends_.emplace(served_ + service, now_); }

  // Goes on until `time`, or until all requests have ended.
  void AdvanceTo(double time) {
    while (!ends_.empty()) {
      const auto [end, arrival] = ends_.top();
      const double present = static_cast<double>(ends_.size());
      const double left = (end - served_) * present;
      if (now_ + left > time) {
        served_ += (time - now_) / present;
        break;
      }
      now_ += left;
      served_ = end;
      ends_.pop();
      visit_(arrival, now_ - arrival);
    }
    now_ = time;
  }

 private:
  using End = std::pair<double, double>;  // value of served_, arrival

  Visit visit_;
  double now_ = 0;
  double served_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

// M/D/1: P(response <= t) = (1 - r) sum over k <= (t - D) / D of
// (-L (t - D - kD))^k / k! exp(L (t - D - kD)).
double ShareWithin(double load, double service_rate, double response) {
  const long double service = 1 / service_rate;
  const long double time = response - service;
  long double sum = 0;
  for (int k = 0; k * service <= time; ++k) {
    const long double x = load * (time - k * service);
    sum += std::pow(-x, k) / std::tgamma(k + 1.0L) * std::exp(x);
  }
  return static_cast<double>((1 - load * service) * sum);
}

}  // namespace

void Simulate(const SimulatedQueue& queue, double load, double seconds,
              std::mt19937_64& random, Visit visit) {
  if (queue.kind != QueueKind::kProcessorSharing) {
    SimulateFirstComeFirstServed(queue, load, seconds, random, visit);
    return;
  }
  std::exponential_distribution<> gap(load);
  std::exponential_distribution<> service(queue.service_rate);
  SharedProcessor processor(visit);
  for (double now = gap(random); now < seconds; now += gap(random)) {
    processor.AdvanceTo(now);
    processor.Arrive(service(random));
  }
  processor.AdvanceTo(std::numeric_limits<double>::infinity());
}

double CapacityForMean(const SimulatedQueue& queue, double limit) {
  const double rate = queue.service_rate;
  if (queue.kind != QueueKind::kFixedService) return rate - 1 / limit;
  // limit = (1 + r / (2 (1 - r))) / rate, solved for r.
  const double excess = 2 * (limit * rate - 1);
  return rate * excess / (1 + excess);
}

double CapacityForQuantile(const SimulatedQueue& queue, double quantile,
                           double limit) {
  const double rate = queue.service_rate;
  if (queue.kind == QueueKind::kExponentialService) {
    return rate - std::log(1 / (1 - quantile)) / limit;
  }
  double low = rate / 10;
  double high = rate * 0.999;
  while (high / low > 1.00001) {
    const double middle = (low + high) / 2;
    (ShareWithin(middle, rate, limit) > quantile ? low : high) = middle;
  }
  return low;
}

}  // namespace distbench::search
