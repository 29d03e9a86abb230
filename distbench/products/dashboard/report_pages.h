// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Makes reports and comparisons of kept results, as `distbench report` and
// `distbench compare` do.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_REPORT_PAGES_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_REPORT_PAGES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/result_source.h"

namespace distbench::dashboard {

// Larger files, uncompressed, are not read, and larger pages not handed out,
// because several of them must fit into the memory of a process that has other
// work.
inline constexpr int64_t kMaxReportedBytes = int64_t{128} << 20;

// The Content-Security-Policy of reports and of comparisons. It knows the
// scripts and styles of a page without results: what a result contains cannot
// become a script.
const std::string& ReportPolicy();
const std::string& ComparisonPolicy();

// All of these are slow. Errors name the file: NOT_FOUND if it is gone,
// RESOURCE_EXHAUSTED if it is too large; they say what to do instead.

// The HTML page or the JSON document of all tests of the result's file.
absl::StatusOr<std::string> MakeReport(const history::IndexedResult& result,
                                       const history::ResultSource& source,
                                       bool is_json);

// The file itself.
absl::StatusOr<std::string> ReportFile(const history::IndexedResult& result,
                                       const history::ResultSource& source);

// Compares two tests, each with all its repetitions in its file.
absl::StatusOr<std::string> ComparisonPage(const history::IndexedResult& base,
                                           const history::IndexedResult& next,
                                           const history::ResultSource& source);

// The Content-Security-Policy for a self-contained page of ours: a browser runs
// and applies its own scripts and styles, known by their SHA-256, and nothing
// else. Documents of data in script elements are no scripts. The page should
// contain nothing of others yet, because its scripts would be known, too.
std::string PolicyOf(absl::string_view page);

// The policy of pages whose scripts and styles are files of this server.
inline constexpr char kOwnFilesPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
    "'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_REPORT_PAGES_H_
