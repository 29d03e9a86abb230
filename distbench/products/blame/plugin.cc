// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <optional>

#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/products/blame/blame.h"
#include "distbench/products/blame/page_files.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/report_format.h"

namespace distbench::blame {
namespace {

const base::Plugin<base::Product> kProduct(
    "blame", new base::Product{"Says what made slow requests slow"});

base::Json ValueOf(const TestResult& result, const report::JsonLimits&) {
  const std::optional<ReportedBlame> blame = FindBlame(result);
  return blame.has_value() ? base::MessageJson(*blame) : nullptr;
}

absl::Status WriteText(const report::ReportInput& input,
                       const report::ReportFlagValues&, report::ByteSink sink) {
  sink(BlameText(input.runs));
  return absl::OkStatus();
}

const base::Plugin<report::TestKey> kKey("blame",
                                         new report::TestKey{{"connections"},
                                                             ValueOf});

const base::Plugin<report::PagePart> kPage(
    "blame", new report::PagePart{{"topology", 1}, kBlameHtml, kBlameJs});

const base::Plugin<report::ReportFormat> kFormat(
    "blame", new report::ReportFormat{
                 "who is to blame for the tail, from traces", WriteText});

}  // namespace
}  // namespace distbench::blame
