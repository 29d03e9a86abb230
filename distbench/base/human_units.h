// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people read them, the same wherever distbench prints them: a
// number, a blank and a unit. What configs and flags can be is written as there
// instead ("p99<=20ms", "within 5s"), and so is what other programs read.

#ifndef DISTBENCH_BASE_HUMAN_UNITS_H_
#define DISTBENCH_BASE_HUMAN_UNITS_H_

#include <string>

namespace distbench::base {

// Those with a unit have three significant digits, except that counts of the
// smallest unit and numbers below 1 have no zeros at their end.

// Returns "345 ns", "1.23 us", "10.0 ms", "12.3 s" or "6200 s". Requires a
// finite number of nanoseconds.
std::string HumanDuration(double ns);

// With four digits, for what stands beside a limit: "19.73 ms".
std::string PreciseDuration(double ns);

// Returns "0.25/s", "510/s", "1.23 k/s" or "12.3 M/s". Requires a finite rate
// per second.
std::string HumanRate(double per_second);

// Returns "0 %", "0.0123 %", "3.10 %" or "100 %" of a share, which must be
// finite.
std::string HumanPercent(double share);

// Returns "512 B", "1.2 MiB" or "477 GiB", up to TiB; below 100 of a unit with
// a decimal place. Requires a finite number.
std::string HumanBytes(double bytes);

// Returns "512", "1.2M" or "477G" of the same, for lists such as
// "memory=477G swap=1.2M".
std::string ShortBytes(double bytes);

// Returns "1000000000" or "0.123456789": whole numbers, below 10^15, without an
// exponent, and others with nine significant digits.
std::string NumberInFull(double number);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_HUMAN_UNITS_H_
