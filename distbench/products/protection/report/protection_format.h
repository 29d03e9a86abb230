// Numbers in the form of the reports about protection: short, and of equal
// width in tables.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_FORMAT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_FORMAT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/stats/value_distribution.h"

namespace distbench::protection {

// Returns a share, such as 0.455, in percent without the sign: "0", "0.49",
// "45.50", "100.0", "1234" or "1e+06", in at most five characters; "fail" if it
// is infinite. Requires a share of at least 0.
std::string FormatShare(double share);

// Returns nanoseconds as "0", "885u", "42.2u", "4.7m" or "1.5s".
std::string FormatLatency(double ns);

// Returns the names of the columns, aligned with FormatDistribution().
std::string DistributionHeader();

// Returns a row of shares: the label, the columns of the distribution, mean and
// deviation. Without values, the row says so.
std::string FormatDistribution(absl::string_view label,
                               const stats::ValueDistribution& distribution);

// Returns "p50=885u:3.7m/49.5m p90=... p99=... max=...": of each percentile its
// mean over the seconds, its deviation and its maximum. Empty without values.
std::string FormatNestedLatencies(const NestedLatencies& latencies);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_FORMAT_H_
