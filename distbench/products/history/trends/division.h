#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_

#include <cstddef>

namespace distbench::history {

// Of a sequence of values into two parts.
struct Division {
  size_t index = 0;     // of the first value of the second part
  double distance = 0;  // between the parts: how clearly they differ
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_
