// Converts distributions from configs, which describe them by points of a
// probability mass function (PMF) or a cumulative distribution function (CDF).

#ifndef DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_
#define DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_

#include "distbench/config/distributions/distribution.h"
#include "proto/joint_distribution.pb.h"

namespace distbench {

// Names of fields. A joint distribution may list its two in either order.
inline constexpr char kRequestSizeField[] = "request_payload_size";
inline constexpr char kResponseSizeField[] = "response_payload_size";
inline constexpr char kPayloadSizeField[] = "payload_size";
inline constexpr char kDelayField[] = "action_delay_ns";

// The number of values in a draw: one per field name. Without field names, it
// is one per data point of the first PMF point, and one for a CDF.
int DimensionsOf(const DistributionConfig& config);

// Requires a config that passed validation. In a joint distribution, the
// request size is always the first dimension, whatever the order of the fields.
Distribution MakeDistribution(const DistributionConfig& config);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_CONFIG_H_
