// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace distbench::stats {
namespace {

namespace policies = boost::math::policies;

// Errors set errno instead of throwing; discrete quantiles are the smallest
// integer that reaches the probability.
using Policy =
    policies::policy<policies::domain_error<policies::errno_on_error>,
                     policies::overflow_error<policies::errno_on_error>,
                     policies::evaluation_error<policies::errno_on_error>,
                     policies::discrete_quantile<policies::integer_round_up>>;

}  // namespace

double NormalQuantile(double probability) {
  return quantile(boost::math::normal_distribution<double, Policy>(),
                  probability);
}

double StudentTQuantile(double probability, double degrees_of_freedom) {
  return quantile(
      boost::math::students_t_distribution<double, Policy>(degrees_of_freedom),
      probability);
}

double BetaQuantile(double probability, double alpha, double beta) {
  return quantile(boost::math::beta_distribution<double, Policy>(alpha, beta),
                  probability);
}

int64_t BinomialQuantile(int64_t trials, double success_probability,
                         double probability) {
  return static_cast<int64_t>(
      quantile(boost::math::binomial_distribution<double, Policy>(
                   static_cast<double>(trials), success_probability),
               probability));
}

}  // namespace distbench::stats
