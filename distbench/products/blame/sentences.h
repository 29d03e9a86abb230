// Private to blame.h.

#ifndef DISTBENCH_PRODUCTS_BLAME_SENTENCES_H_
#define DISTBENCH_PRODUCTS_BLAME_SENTENCES_H_

#include <string>
#include <vector>

#include "distbench/products/blame/blame.h"

namespace distbench::blame {

// Returns RequestBlame::sentences; uses everything else of `blame`.
std::vector<std::string> SentencesOf(const RequestBlame& blame);

// Returns "87% (80% to 93%)".
std::string ShareText(const BlameEstimate& share);

// Returns "p99" or "p99.9".
std::string PercentileText(double quantile);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_SENTENCES_H_
