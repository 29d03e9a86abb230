#include "distbench/products/bench/reports/job_selection.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::bench {
namespace {

struct Selector {
  int number = 0;  // 0: by name
  std::string kind;
  std::optional<std::string> id;

  bool Selects(const BenchJob& job, int job_number) const {
    if (number > 0) return number == job_number;
    return job.kind() == kind && (!id.has_value() || job.id() == *id);
  }
};

absl::StatusOr<Selector> Parse(const std::string& text) {
  Selector selector;
  if (absl::SimpleAtoi(text, &selector.number)) return selector;
  selector.number = 0;
  const size_t colon = text.find(':');
  selector.kind = text.substr(0, colon);
  if (colon == std::string::npos) return selector;
  absl::string_view options = absl::string_view(text).substr(colon + 1);
  if (!absl::ConsumePrefix(&options, "id=")) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " selects no job; write a number of list, KIND, or "
                     "KIND:id=ID"));
  }
  selector.id = std::string(options);
  return selector;
}

absl::Status NothingSelected(const std::string& text, const BenchFile& file) {
  std::vector<std::string> names;
  for (const BenchJob& job : file.jobs()) {
    names.push_back(job.id().empty()
                        ? job.kind()
                        : absl::StrCat(job.kind(), ":id=", job.id()));
  }
  return absl::NotFoundError(absl::StrCat("the file has no job ",
                                          config::Quoted(text), "; ",
                                          config::Suggestion(text, names)));
}

}  // namespace

absl::StatusOr<std::vector<const BenchJob*>> SelectJobs(
    const BenchFile& file, absl::Span<const std::string> selectors) {
  std::vector<bool> is_selected(file.jobs_size(), selectors.empty());
  for (const std::string& text : selectors) {
    const absl::StatusOr<Selector> selector = Parse(text);
    if (!selector.ok()) return selector.status();
    bool is_any = false;
    for (int i = 0; i < file.jobs_size(); ++i) {
      if (!selector->Selects(file.jobs(i), i + 1)) continue;
      is_selected[i] = true;
      is_any = true;
    }
    if (!is_any) return NothingSelected(text, file);
  }
  std::vector<const BenchJob*> jobs;
  for (int i = 0; i < file.jobs_size(); ++i) {
    if (is_selected[i]) jobs.push_back(&file.jobs(i));
  }
  return jobs;
}

}  // namespace distbench::bench
