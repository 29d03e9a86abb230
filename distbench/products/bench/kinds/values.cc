#include "distbench/products/bench/kinds/values.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/report/terminal/human_units.h"

namespace distbench::bench {
namespace {

const BenchValue* Find(const BenchValues& values, absl::string_view name) {
  for (const BenchValue& value : values) {
    if (value.name() == name) return &value;
  }
  return nullptr;
}

std::string ValueText(const BenchValue& value) {
  if (value.has_text()) {
    return value.text().find(' ') == std::string::npos
               ? value.text()
               : absl::StrCat("\"", value.text(), "\"");
  }
  if (value.unit() == kBytes) return report::HumanBytes(value.number());
  return absl::StrFormat("%.10g%s", value.number(), value.unit());
}

}  // namespace

void AddNumber(absl::string_view name, double number, BenchValues& values,
               absl::string_view unit) {
  BenchValue& value = *values.Add();
  value.set_name(std::string(name));
  value.set_number(number);
  if (!unit.empty()) value.set_unit(std::string(unit));
}

void AddText(absl::string_view name, absl::string_view text,
             BenchValues& values) {
  BenchValue& value = *values.Add();
  value.set_name(std::string(name));
  value.set_text(std::string(text));
}

void RemoveValue(absl::string_view name, BenchValues& values) {
  values.erase(
      std::remove_if(values.begin(), values.end(),
                     [&](const auto& value) { return value.name() == name; }),
      values.end());
}

std::optional<double> FindNumber(const BenchValues& values,
                                 absl::string_view name) {
  const BenchValue* value = Find(values, name);
  if (value == nullptr || !value->has_number()) return std::nullopt;
  return value->number();
}

std::string FindText(const BenchValues& values, absl::string_view name) {
  const BenchValue* value = Find(values, name);
  return value == nullptr ? "" : value->text();
}

const BenchJob* NearestOf(absl::string_view kind,
                          absl::Span<const BenchJob* const> earlier) {
  for (const BenchJob* job : earlier) {
    if (job->kind() == kind && job->state() == BenchJob::DONE) return job;
  }
  return nullptr;
}

void AddTaken(const BenchJob& from, const BenchValue& value,
              BenchValues& parameters) {
  BenchValue& taken = *parameters.Add();
  taken = value;
  taken.set_source(JobTitle(from.kind(), from.id()));
}

std::string ValuesText(const BenchValues& values) {
  std::vector<std::string> texts;
  for (const BenchValue& value : values) {
    texts.push_back(absl::StrCat(value.name(), "=", ValueText(value)));
  }
  return absl::StrJoin(texts, " ");
}

}  // namespace distbench::bench
