// Distributions as configs describe them: by points of a probability mass
// function (PMF) or of a cumulative distribution function (CDF).

#ifndef DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_
#define DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_

#include "distbench/config/distributions/distribution.h"
#include "proto/joint_distribution.pb.h"

namespace distbench {

// The field that a joint distribution may list second or first.
inline constexpr char kRequestSizeField[] = "request_payload_size";
inline constexpr char kResponseSizeField[] = "response_payload_size";
inline constexpr char kPayloadSizeField[] = "payload_size";
inline constexpr char kDelayField[] = "action_delay_ns";

// How many values a draw has: one per field name; without field names, one per
// data point of the first PMF point, and one for a CDF.
int DimensionsOf(const DistributionConfig& config);

// Requires a config that passed validation. Of the fields of a joint
// distribution, the request's size is the first dimension, however they are
// listed.
Distribution MakeDistribution(const DistributionConfig& config);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_
