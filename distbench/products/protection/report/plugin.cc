// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the product adds to reports.

#include <string>

#include "distbench/base/plugins.h"
#include "distbench/products/protection/report/controls_report.h"
#include "distbench/products/protection/report/page_files.h"
#include "distbench/products/protection/report/protection_table.h"
#include "distbench/products/protection/report/protection_text.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::protection {
namespace {

// ---- Controls of a test -----------------------------------------------------

const base::Plugin<report::FindingRule> kFindings(
    "controls", new report::FindingRule{JudgeControls, {"controls_not_held"}});

const base::Plugin<report::SummarySection> kControlsSection(
    "Controls", new report::SummarySection{{"Resources"}, ControlLines});

const base::Plugin<report::TestKey> kControlsKey(
    "controls", new report::TestKey{{"bindings"}, ControlsJson});

// ---- Experiments ------------------------------------------------------------

std::string TextOf(const report::ReportInput& input) {
  return ProtectionText(input.runs);
}

const base::Plugin<report::TextPart> kText(
    "protection", new report::TextPart{{report::kTextTests, 2}, TextOf});

const base::Plugin<report::DocumentKey> kExperimentsKey(
    "experiments", new report::DocumentKey{{"tests", 3}, ExperimentsJson});

const base::Plugin<report::PagePart> kPage("protection",
                                           new report::PagePart{{"topology", 3},
                                                                kProtectionHtml,
                                                                kProtectionJs});

absl::Status WriteCells(const report::ReportInput& input,
                        const report::ReportFlagValues& /*flags*/,
                        report::ByteSink sink) {
  RenderProtectionCsv(input.runs,
                      *ReportedExperiment::CellTable::Row::descriptor(),
                      ListCells, sink);
  return absl::OkStatus();
}

absl::Status WriteSeconds(const report::ReportInput& input,
                          const report::ReportFlagValues& /*flags*/,
                          report::ByteSink sink) {
  RenderProtectionCsv(input.runs,
                      *ReportedExperiment::SecondTable::Row::descriptor(),
                      ListSeconds, sink);
  return absl::OkStatus();
}

const base::Plugin<report::CsvTable> kTables[] = {
    {"protection",
     new report::CsvTable{
         {"", 0}, "a row per cell of an experiment", WriteCells}},
    {"protection_seconds",
     new report::CsvTable{{"", 0},
                          "a row per run of a cell and second of its phases",
                          WriteSeconds}},
};

}  // namespace
}  // namespace distbench::protection
