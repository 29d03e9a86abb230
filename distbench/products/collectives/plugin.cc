// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/products/collectives/collectives.h"
#include "distbench/products/collectives/collectives_text.h"
#include "distbench/products/collectives/page_files.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::collectives {
namespace {

const base::Plugin<base::Product> kProduct(
    "collectives",
    new base::Product{"Reports collective operations in the words of their "
                      "field"});

// ---- Reports ----------------------------------------------------------------

void ListGroups(const TestResult& result, report::RowSink sink) {
  for (MeasuredCollective& each : MeasureCollectives(result)) sink(each.row);
}

void ListRanks(const TestResult& result, report::RowSink sink) {
  for (MeasuredCollective& each : MeasureCollectives(result)) {
    for (CollectiveRankTable::Row& rank : each.ranks) sink(rank);
  }
}

const report::ReportTable kGroups = {CollectiveTable::descriptor(), ListGroups};
const report::ReportTable kRanks = {CollectiveRankTable::descriptor(),
                                    ListRanks};

base::Json ValueOf(const TestResult& result, const report::JsonLimits& limits) {
  ReportedCollectives reported;
  std::vector<MeasuredCollective> all = MeasureCollectives(result);
  if (all.empty()) return nullptr;
  report::TableRows groups(limits.max_part_rows, reported.mutable_groups());
  report::TableRows ranks(limits.max_part_rows, reported.mutable_ranks());
  for (MeasuredCollective& each : all) {
    groups.Add(each.row);
    for (CollectiveRankTable::Row& rank : each.ranks) ranks.Add(rank);
  }
  return base::MessageJson(reported);
}

const base::Plugin<report::TestKey> kKey("collectives",
                                         new report::TestKey{{"activities"},
                                                             ValueOf});

const base::Plugin<report::PagePart> kPage(
    "collectives",
    new report::PagePart{{"topology"}, kCollectivesHtml, kCollectivesJs});

const base::Plugin<report::SummarySection> kSection("Collectives",
                                                    new report::SummarySection{
                                                        {"Global summary"},
                                                        CollectiveLines});

const base::Plugin<report::FindingRule> kFindings(
    "collectives", new report::FindingRule{JudgeCollectives,
                                           {"slow_rank", "slow_messages",
                                            "collective_unfinished"}});

const base::Plugin<report::CsvTable> kTables[] = {
    {"collectives",
     new report::CsvTable{{"activities", 0},
                          "a row per collective operation and group of ranks",
                          report::WriteTableOfRuns<kGroups>}},
    {"collective_ranks",
     new report::CsvTable{{"activities", 1},
                          "a row per rank of a collective operation",
                          report::WriteTableOfRuns<kRanks>}}};

// ---- The language -----------------------------------------------------------

class CollectivesLanguage final : public config::LanguagePart {
 public:
  // Whoever runs the action must have the axis.
  void Validate(const config::TestValidation& validation) const override {
    const auto& test = validation.test();
    for (int i = 0; i < test.actions_size(); ++i) {
      const CollectiveSpec& spec = test.actions(i).collective();
      const int axis = AxisOf(spec);
      if (axis == 0 ||
          absl::c_any_of(test.services(), [&](const ServiceSpec& service) {
            return config::GridOf(service).dimensions > axis;
          })) {
        continue;
      }
      validation.Add(validation.Action(i).Field("collective").Field("axis"),
                     "no service has an axis ", spec.axis(), "; give one ",
                     spec.axis(), "_size, or choose another axis");
    }
  }
};

const base::Plugin<config::LanguagePart> kLanguage("collectives",
                                                   new CollectivesLanguage);

}  // namespace
}  // namespace distbench::collectives
