// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/numa_compare/command.h"
#include "distbench/products/numa_compare/numa_table.h"
#include "distbench/products/numa_compare/page_files.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::numa_compare {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "numa_compare",
    new base::Product{
        "Compares deployments of a test on the NUMA nodes of a host"});

const base::Plugin<Command> kCommand("numa_compare",
                                     new Command{HelpSection::kRuns,
                                                 AddNumaCompareCommand});

nlohmann::ordered_json ValueOf(const report::ReportInput& input,
                               const report::JsonLimits&) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const NumaComparison* comparison : NumaComparisonsOf(input.runs)) {
    json.push_back(NumaComparisonJson(*comparison));
  }
  return json;
}

std::string TextOf(const report::ReportInput& input) {
  std::string text;
  for (const NumaComparison* comparison : NumaComparisonsOf(input.runs)) {
    text += RenderNumaComparison(*comparison);
  }
  return text;
}

const base::Plugin<report::DocumentKey> kKey("numa_comparisons",
                                             new report::DocumentKey{
                                                 {"tests", 1}, ValueOf});

const base::Plugin<report::TextPart> kText(
    "numa_comparisons", new report::TextPart{{report::kTextTests, 1}, TextOf});

const base::Plugin<report::PagePart> kPage(
    "numa", new report::PagePart{{"sweep", 2}, kNumaHtml, kNumaJs});

}  // namespace
}  // namespace distbench::numa_compare
