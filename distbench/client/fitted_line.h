// Lines for terminals, which say the most important things that fit.

#ifndef DISTBENCH_CLIENT_FITTED_LINE_H_
#define DISTBENCH_CLIENT_FITTED_LINE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace distbench::client {

struct LinePart {
  std::string text;

  // The part with the highest rank is the first to be left out. Ranks differ.
  int rank = 0;

  // Figures are joined by commas; other parts contain their own blanks.
  bool is_figure = true;
};

// Returns the parts in their order, without empty ones and as many of low rank
// as `room` characters can hold. Cuts off the end if even the part of lowest
// rank is too long.
std::string FitLine(std::vector<LinePart> parts, size_t room);

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_FITTED_LINE_H_
