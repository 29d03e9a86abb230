// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What products add to reports as text.

#ifndef DISTBENCH_REPORT_PARTS_TEXT_PART_H_
#define DISTBENCH_REPORT_PARTS_TEXT_PART_H_

#include <string>
#include <utility>
#include <vector>

#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/placement.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A section of the summary of a test; its title is the name of the plug-in.
struct SummarySection {
  // After the section of the core with this title.
  Placement place;

  // The lines below the title, without line ends and indented by two spaces.
  // Without any, the section is left out.
  std::vector<std::string> (*lines_of)(const TestResult& result);

  // Lines that stand before all sections, because nobody may overlook them;
  // null if there never are any.
  std::vector<std::string> (*opening_of)(const TestResult& result) = nullptr;
};

// The opening lines of all products.
inline std::vector<std::string> OpeningLinesOf(const TestResult& result) {
  std::vector<std::string> lines;
  for (const Placed<SummarySection>& placed : InOrder<SummarySection>({})) {
    if (placed.part->opening_of == nullptr) continue;
    for (std::string& line : placed.part->opening_of(result)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// What the core prints, for the places of text parts.
inline constexpr char kTextStart[] = "start";
inline constexpr char kTextTests[] = "tests";

// What `distbench report` prints besides the summaries of the tests.
struct TextPart {
  // After kTextStart, so before the summaries of the tests, or after
  // kTextTests.
  Placement place;

  // Whole lines; empty if the results have no such thing.
  std::string (*text_of)(const ReportInput& input);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_TEXT_PART_H_
