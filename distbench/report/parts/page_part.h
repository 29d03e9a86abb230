// Sections that products add to the HTML page of results.

#ifndef DISTBENCH_REPORT_PARTS_PAGE_PART_H_
#define DISTBENCH_REPORT_PARTS_PAGE_PART_H_

#include "absl/strings/string_view.h"
#include "distbench/report/parts/placement.h"

namespace distbench::report {

// A section and the script that fills it from the JSON document. Names and
// texts of results never are in either.
struct PagePart {
  // Of the section, among those of html/page.html by their ids.
  Placement place;

  // <section id="...">...</section>, which has no sections inside; empty if the
  // part only adds to the core's sections.
  absl::string_view section;

  // JavaScript, which follows the core's scripts in the same scope, so that
  // names of top level must be its own. It calls addPart() of html/parts.js.
  absl::string_view script;
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_PAGE_PART_H_
