// Quantities as people read them, with about three significant digits.

#ifndef DISTBENCH_REPORT_TERMINAL_HUMAN_UNITS_H_
#define DISTBENCH_REPORT_TERMINAL_HUMAN_UNITS_H_

#include <string>

namespace distbench::report {

// Returns "345ns", "1.23us", "1.23ms", "12.3s" or "6200s". Requires a finite
// number of nanoseconds.
std::string HumanDuration(double ns);

// Returns "0.25/s", "510/s", "1.23k/s" or "12.3M/s", as configs have it.
// Requires a finite rate per second.
std::string HumanRate(double per_second);

// Returns "512", "1.2M" or "477G": bytes with the units K, M, G and T for
// powers of 1024; below 100 of a unit with a decimal place. Requires a finite
// number.
std::string HumanBytes(double bytes);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_HUMAN_UNITS_H_
