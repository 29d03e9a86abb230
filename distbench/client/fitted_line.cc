#include "distbench/client/fitted_line.h"

#include <algorithm>

namespace distbench::client {
namespace {

std::string Join(const std::vector<LinePart>& parts) {
  std::string line;
  bool after_figure = false;
  for (const LinePart& part : parts) {
    if (after_figure && part.is_figure) line += ", ";
    line += part.text;
    after_figure = part.is_figure;
  }
  return line;
}

}  // namespace

std::string FitLine(std::vector<LinePart> parts, size_t room) {
  std::erase_if(parts, [](const LinePart& part) { return part.text.empty(); });
  std::string line = Join(parts);
  while (line.size() > room && parts.size() > 1) {
    parts.erase(std::max_element(
        parts.begin(), parts.end(),
        [](const LinePart& a, const LinePart& b) { return a.rank < b.rank; }));
    line = Join(parts);
  }
  line.resize(std::min(line.size(), room));
  return line;
}

}  // namespace distbench::client
