// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/html/html.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "distbench/report/html/page_files.h"
#include "distbench/report/json/json.h"
#include "distbench/report/parts/document_parts.h"

namespace distbench::report {
namespace {

// Replaces "{{name}}" of the page by its content, for each name once, in the
// order of the page. Inserted contents are not searched for further names.
std::string FillIn(
    absl::string_view page,
    const std::vector<std::pair<absl::string_view, absl::string_view>>&
        contents) {
  std::string filled;
  for (const auto& [name, content] : contents) {
    const std::string mark = absl::StrCat("{{", name, "}}");
    const size_t position = page.find(mark);
    absl::StrAppend(&filled, page.substr(0, position), content);
    page.remove_prefix(position + mark.size());
  }
  absl::StrAppend(&filled, page);
  return filled;
}

// JSON that cannot end the script element that contains it.
std::string ScriptElement(const PageData& data) {
  return absl::StrCat("<script type=\"application/json\" id=\"", data.id, "\">",
                      absl::StrReplaceAll(data.json, {{"<", "\\u003c"}}),
                      "</script>\n");
}

}  // namespace

std::string RenderPage(const Page& page) {
  std::string data;
  for (const PageData& part : page.data) data += ScriptElement(part);
  // In page order.
  return FillIn(kFrameHtml, {{"title", page.title},
                             {"style", page.style},
                             {"body", page.body},
                             {"data", data},
                             {"library", kLibraryJs},
                             {"script", page.script}});
}

namespace {

// At least one pixel each on a wide screen.
constexpr int64_t kMaxIntervals = 1500;

// The page shows the worst of a run, and no single CPUs, control groups or
// seconds of activities. 62 500 pairs are those of about 250 instances that all
// talk to one another.
constexpr int64_t kMaxInstanceRows = 20'000;
constexpr std::pair<const char*, int64_t> kMaxRows[] = {
    {"peers", 62'500}, {"activity_series", 0},  {"cpus", 0},
    {"groups", 0},     {"connections", 20'000}, {"goodput", 40'000},
    {"faults", 5'000}, {"recoveries", 5'000}};

// 600 runs of three minutes, with a row per second.
constexpr int64_t kMaxPartRows = 108'000;

constexpr char kSectionStart[] = "  <section id=\"";
constexpr char kSectionEnd[] = "</section>\n";

// The ids of the page's own sections.
std::vector<std::string> OwnSections() {
  std::vector<std::string> ids;
  for (absl::string_view part :
       absl::StrSplit(absl::string_view(kPageHtml), kSectionStart)) {
    ids.emplace_back(part.substr(0, part.find('"')));
  }
  ids.erase(ids.begin());  // what precedes the first section
  return ids;
}

// All sections of the page, with those of products.
std::vector<Placed<PagePart>> Sections() {
  return InOrder<PagePart>(OwnSections());
}

// The page with the sections of products between its own.
std::string PageBody() {
  std::string body;
  absl::string_view left = kPageHtml;
  for (const Placed<PagePart>& placed : Sections()) {
    if (placed.part == nullptr) {
      const size_t end = left.find(kSectionEnd, left.find(kSectionStart)) +
                         absl::string_view(kSectionEnd).size();
      absl::StrAppend(&body, left.substr(0, end));
      left.remove_prefix(end);
    } else {
      absl::StrAppend(&body, placed.part->section);
    }
  }
  absl::StrAppend(&body, left);
  return body;
}

}  // namespace

std::string RenderHtml(const ReportInput& input) {
  const std::string data =
      RenderJson(input, {.max_rows = {std::begin(kMaxRows), std::end(kMaxRows)},
                         .max_instance_rows = kMaxInstanceRows,
                         .max_part_rows = kMaxPartRows,
                         .max_intervals = kMaxIntervals});
  std::string parts;
  for (const Placed<PagePart>& placed : Sections()) {
    if (placed.part != nullptr) absl::StrAppend(&parts, placed.part->script);
  }
  const std::string script = absl::StrCat(
      kFormatsJs, kModelJs, kDomJs, kSortJs, kVerdictsJs, kTitleJs, kHeadlineJs,
      kFindingsJs, kTopologyLayoutJs, kTopologyJs, kTablesJs, kChartsJs,
      kZoomJs, kDownloadsJs, kSelectionJs, kRepeatsJs, kLatencyChartsJs,
      kIntervalsJs, kFaultsJs, kOverTimeJs, kPoliciesJs, kHeatMapJs, kPeersJs,
      kResourcesJs, kSweepJs, kBindingsJs, kPartsJs, parts, kDeepLinksJs,
      kPrintJs, kMainJs);
  const std::string body = PageBody();
  return RenderPage({.title = "distbench report",
                     .style = kStyleCss,
                     .body = body,
                     .data = {{"report-data", data}},
                     .script = script});
}

}  // namespace distbench::report
