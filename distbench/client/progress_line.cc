#include "distbench/client/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/terminal.h"

namespace distbench::client {
namespace {

constexpr absl::string_view kClearLine = "\r\x1b[K";

void WriteToStderr(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void WriteNowhere(absl::string_view) {}

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

ProgressDisplayOptions StderrProgress(int test_count, bool quiet) {
  ProgressDisplayOptions options;
  options.test_count = test_count;
  const base::Terminal terminal = base::TerminalOf(STDERR_FILENO);
  options.terminal = terminal.is_terminal;
  options.columns = terminal.columns;
  options.write = quiet ? WriteNowhere : WriteToStderr;
  return options;
}

ProgressLine::ProgressLine(ProgressDisplayOptions options)
    : options_(std::move(options)) {}

ProgressLine::~ProgressLine() { Clear(); }

size_t ProgressLine::room() const {
  if (!options_.terminal) return std::string::npos;
  // The last column stays free: writing to it may begin a new line.
  return std::max(options_.columns - 1, 0);
}

void ProgressLine::Write(absl::string_view text) {
  Clear();
  options_.write(absl::StrCat(text, "\n"));
}

void ProgressLine::Show(absl::string_view text) {
  if (!options_.terminal) return Write(text);
  options_.write(absl::StrCat(kClearLine, text.substr(0, room())));
  is_drawn_ = true;
}

void ProgressLine::Clear() {
  if (!is_drawn_) return;
  options_.write(kClearLine);
  is_drawn_ = false;
}

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
