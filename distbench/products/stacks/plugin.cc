// What this product adds to the program.

#include "absl/status/statusor.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/products/stacks/page_files.h"
#include "distbench/products/stacks/stacks.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/report_format.h"

namespace distbench::stacks {
namespace {

const base::Plugin<base::Product> kProduct(
    "stacks",
    new base::Product{
        "Compares stacks of software over the results of many tests"});

base::Json ValueOf(const report::ReportInput& input,
                   const report::JsonLimits&) {
  return base::MessageJson(CompareStacks(input.runs));
}

template <StacksFormat format>
absl::Status Write(const report::ReportInput& input,
                   const report::ReportFlagValues&, report::ByteSink sink) {
  const absl::StatusOr<std::string> text =
      StacksText(CompareStacks(input.runs), format);
  if (text.ok()) sink(*text);
  return text.status();
}

const base::Plugin<report::DocumentKey> kKey("stacks",
                                             new report::DocumentKey{
                                                 {"tests", 4}, ValueOf});

const base::Plugin<report::PagePart> kPage(
    "stacks", new report::PagePart{{"sweep", 1}, kStacksHtml, kStacksJs});

const base::Plugin<report::ReportFormat> kText(
    "stacks",
    new report::ReportFormat{"protocol drivers under the same traffic",
                             Write<StacksFormat::kText>});

const base::Plugin<report::ReportFormat> kMarkdown(
    "stacks_markdown",
    new report::ReportFormat{"the same for comments and wikis",
                             Write<StacksFormat::kMarkdown>});

}  // namespace
}  // namespace distbench::stacks
