#include "distbench/products/search/report/search_answer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench::search {
namespace {

// At least four digits, unless the load is a small whole number.
std::string LoadText(double load) {
  return load < 1000 ? absl::StrFormat("%.4g", load)
                     : absl::StrFormat("%.0f", load);
}

std::string Bound(bool is_known, double load) {
  return is_known ? LoadText(load) : "?";
}

std::string IntervalText(const SearchReport& report) {
  return absl::StrCat(" (", Bound(report.has_min_load(), report.min_load()),
                      " to ", Bound(report.has_max_load(), report.max_load()),
                      ")");
}

}  // namespace

std::string SearchAnswer(const SearchReport& report) {
  if (!report.has_load()) return "";
  if (!report.has_confidence_level()) {
    return absl::StrFormat("%.6g %s", report.load(), report.load_unit());
  }
  return absl::StrFormat("%s%s %s, %s at %g %%", LoadText(report.load()),
                         IntervalText(report), report.load_unit(),
                         report.is_proven() ? "proven" : "met, not proven",
                         100 * report.confidence_level());
}

}  // namespace distbench::search
