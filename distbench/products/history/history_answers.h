// Answers of an index of results, also as JSON and as text for terminals.

#ifndef DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_
#define DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/history/trends/change_points.h"

namespace distbench::history {

// Answers of an index of results. Times are Unix milliseconds, values are in
// base units: seconds, counts per second, shares from 0 to 1.

// A result is one test of one file.
struct IndexedResult {
  // 16 hexadecimal digits of a hash of the file's name, '-', and the test's
  // index in the file. Stays the same as long as the file keeps its name.
  std::string id;
  std::string file;
  std::string run_id;  // empty if no sequencer kept it
  std::string test;    // marked if it is simulated: see MeasuredTest::name
  std::string label;
  int64_t started_ms = 0;
  double duration_seconds = 0;
  std::string verdict;  // "ok", "warn", "invalid" or "failed"
  std::vector<std::string> hosts;

  // Of the test; and of its nodes, where all values differ from the test's.
  std::map<std::string, std::string> attributes;

  // A few, by "RPC · METRIC".
  std::map<std::string, double> metrics;
  bool is_accepted = false;
  std::string note;
};

inline constexpr int kMaxPageSize = 500;

// The most words, and the most attributes, of a query.
inline constexpr int kMaxSearchTerms = 20;

// Empty fields select everything; several select what all of them select.
struct ResultQuery {
  // Words, each of which begins a word of the label, the test, the file, the
  // run's id, an attribute or a host. Any text of up to kMaxSearchTerms words
  // is valid.
  std::string search;
  std::string test;
  std::string label;
  std::string host;
  std::map<std::string, std::string> attributes;

  // Started in [after, before).
  std::optional<int64_t> after_ms;
  std::optional<int64_t> before_ms;

  int limit = 50;      // 1 to kMaxPageSize
  std::string cursor;  // ResultPage::next of the previous page
};

// Results are counted up to this many.
inline constexpr int64_t kMaxCounted = 10'000;

struct ResultPage {
  std::vector<IndexedResult> results;  // newest first

  // That the query selects, on all pages; at least so many if is_total_least.
  int64_t total = 0;
  bool is_total_least = false;
  std::string next;  // empty on the last page
};

inline constexpr int kMaxFilterValues = 1000;

// The values that queries can name, sorted.
struct FilterValues {
  std::vector<std::string> tests;
  std::vector<std::string> labels;
  std::vector<std::string> hosts;
  std::map<std::string, std::vector<std::string>> attributes;

  // Whether there are more than kMaxFilterValues of any.
  bool is_truncated = false;
};

struct FileProblem {
  std::string file;
  std::string problem;
};

// One metric of one RPC of one test, over its results.
struct SeriesSummary {
  int64_t id = 0;
  std::string test;
  std::string rpc;

  // "p50 response time" and "p99 service time", for example, with p50, p99 and
  // p99.9; "succeeded", "failed", "sent of offered".
  std::string metric;
  std::string unit;  // "seconds", "per_second" or "share"
  bool higher_is_better = false;

  // Results that have a value. The newest are judged: see kMaxJudgedPoints.
  int64_t points = 0;

  // Changes that nobody accepted, and when the last one began.
  int64_t changes = 0;
  std::optional<int64_t> last_change_ms;
};

struct TrendPoint {
  std::string result_id;
  int64_t started_ms = 0;
  double value = 0;

  // 95 % confidence interval within the run, where the result tells it.
  std::optional<double> low;
  std::optional<double> high;
  bool is_accepted = false;
  std::string verdict;  // "ok" or "warn"
};

// A fact about the environment or the test that is not the same on both sides
// of a change. Empty: not known.
struct ChangedFact {
  std::string name;
  std::string before;
  std::string after;

  // By how many results it changed later than the values did; negative:
  // earlier.
  int distance = 0;
};

struct TrendChange {
  ChangePoint change;  // index: of the first point after it
  int64_t started_ms = 0;

  // Somebody accepted a result of it: see kNearbyResults.
  bool is_accepted = false;

  // The nearest first.
  std::vector<ChangedFact> facts;
};

// Facts and acceptance within so many results of a change belong to it, because
// its place is an estimate.
inline constexpr int kNearbyResults = 5;

struct Trend {
  SeriesSummary series;
  std::vector<TrendPoint> points;  // oldest first
  std::vector<Segment> segments;
  std::vector<TrendChange> changes;  // oldest first

  // Results that are not among the points, because the run failed or is
  // invalid, or the percentile falls among failed requests.
  int64_t left_out = 0;

  // Why nothing was judged, such as too few points; empty if it was.
  std::string problem;
};

// Answers of an index as the JSON objects that docs/products/history.md
// describes. All are valid UTF-8 on one line; what is not is replaced.

std::string ToJson(const ResultPage& page);
std::string ToJson(const FilterValues& filters);
std::string ToJson(absl::Span<const FileProblem> problems);
std::string ToJson(absl::Span<const SeriesSummary> series);
std::string ToJson(const Trend& trend);

// Answers of an index, for terminals.

// A table of results, newest last, and what the page leaves out. Text of
// results is made printable.
std::string ResultsText(const ResultPage& page);

// Segments and changes of a series, or why there are none.
std::string TrendText(const Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_
