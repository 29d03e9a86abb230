// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people read them, the same wherever distbench prints them.

#ifndef DISTBENCH_BASE_HUMAN_UNITS_H_
#define DISTBENCH_BASE_HUMAN_UNITS_H_

#include <string>

namespace distbench::base {

// Those with a unit have three significant digits, except that counts of the
// smallest unit and numbers below 1 have no zeros at their end.

// Returns "345ns", "1.23us", "10.0ms", "12.3s" or "6200s". Requires a finite
// number of nanoseconds.
std::string HumanDuration(double ns);

// Returns "0.25/s", "510/s", "1.23k/s" or "12.3M/s", as configs have it.
// Requires a finite rate per second.
std::string HumanRate(double per_second);

// Returns "0%", "0.0123%", "3.10%" or "100%" of a share, which must be finite.
std::string HumanPercent(double share);

// Returns "512", "1.2M" or "477G": bytes with the units K, M, G and T for
// powers of 1024; below 100 of a unit with a decimal place. Requires a finite
// number.
std::string HumanBytes(double bytes);

// Returns "1000000000" or "0.123456789": whole numbers, below 10^15, without an
// exponent, and others with nine significant digits.
std::string NumberInFull(double number);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_HUMAN_UNITS_H_
