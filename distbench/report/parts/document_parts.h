// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What products add to the JSON and to the page of a report.

#ifndef DISTBENCH_REPORT_PARTS_DOCUMENT_PARTS_H_
#define DISTBENCH_REPORT_PARTS_DOCUMENT_PARTS_H_

#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/placement.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Keys that products add to the JSON document, from which the HTML page is
// drawn as well.

// A key of each test; its name is that of the plug-in.
struct TestKey {
  // Among the keys of a test.
  Placement place;

  // The key is always there, null if the test has no such thing.
  base::Json (*value_of)(const TestResult& result, const JsonLimits& limits);
};

// A key of the document; its name is that of the plug-in.
struct DocumentKey {
  // Among the keys of the document.
  Placement place;

  // The key is always there, null or an empty list if there is no such thing.
  base::Json (*value_of)(const ReportInput& input, const JsonLimits& limits);
};

// Sections that products add to the HTML page of results.

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

#endif  // DISTBENCH_REPORT_PARTS_DOCUMENT_PARTS_H_
