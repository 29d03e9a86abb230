// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/job_kind.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::bench {

void Cancellation::Cancel() {
  absl::MutexLock lock(&mutex_);
  if (is_cancelled_) return;
  is_cancelled_ = true;
  if (handler_) handler_();
}

bool Cancellation::is_cancelled() const {
  absl::MutexLock lock(&mutex_);
  return is_cancelled_;
}

void Cancellation::SetHandler(std::function<void()> handler) {
  absl::MutexLock lock(&mutex_);
  handler_ = std::move(handler);
  if (is_cancelled_ && handler_) handler_();
}

std::string JobKind::Summary(const BenchJob& job) const {
  const std::string text = ResultText(job);
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  return lines.empty() ? "" : lines.back();
}

absl::Span<const JobKind* const> JobKinds() {
  static const JobKind* const kinds[] = {
      &RunKind(),          &SearchKind(), &ProtectionKind(), &HashdParamsKind(),
      &IoCostParamsKind(), &NumaKind(),   &CalibrateKind(),
  };
  return kinds;
}

std::vector<JobDeclaration> JobDeclarations() {
  std::vector<JobDeclaration> declarations;
  for (const JobKind* kind : JobKinds()) {
    declarations.push_back(kind->declaration());
  }
  return declarations;
}

absl::StatusOr<const JobKind*> FindJobKind(absl::string_view kind) {
  std::vector<std::string> names;
  for (const JobKind* known : JobKinds()) {
    if (known->declaration().kind == kind) return known;
    names.push_back(known->declaration().kind);
  }
  return absl::NotFoundError(absl::StrCat("no kind of job is named ",
                                          config::Quoted(kind), "; ",
                                          config::Suggestion(kind, names)));
}

}  // namespace distbench::bench
