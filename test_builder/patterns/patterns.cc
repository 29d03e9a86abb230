#include "test_builder/patterns/pattern.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/named.h"
#include "google/protobuf/text_format.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// Fills the forms of one test. What users wrote is inserted as it is: a '<' in
// it is no hole, and a quote does not end a text.
class Filler {
 public:
  Filler(const ParameterValues& values, const DerivedValues& derived)
      : values_(values), derived_(derived) {}

  std::string Name(absl::string_view form) const {
    return FillForm(form, [this](absl::string_view name, bool) {
      if (const auto found = derived_.find(name); found != derived_.end()) {
        return Name(found->second);
      }
      return name == kArrivals ? ArrivalsName(values_) : values_.Text(name);
    });
  }

  std::string Body(absl::string_view form) const {
    return FillForm(form, [this](absl::string_view name, bool is_quoted) {
      if (const auto found = derived_.find(name); found != derived_.end()) {
        return Body(found->second);
      }
      return is_quoted ? absl::CEscape(values_.Text(name))
                       : absl::StrCat(values_.Integer(name));
    });
  }

 private:
  const ParameterValues& values_;
  const DerivedValues& derived_;
};

}  // namespace

absl::StatusOr<Traffic> BuildTraffic(const Pattern& pattern,
                                     const ParameterValues& values) {
  DerivedValues derived = {
      {"duration_us", absl::StrCat(TestDurationUs(values))}};
  if (pattern.derive != nullptr) {
    absl::Status status = pattern.derive(values, derived);
    if (!status.ok()) return status;
  }
  const Filler filler(values, derived);
  Traffic traffic = {.alias = filler.Name(pattern.alias),
                     .name_suffix = filler.Name(pattern.name_suffix),
                     .body = {}};
  if (!google::protobuf::TextFormat::ParseFromString(filler.Body(pattern.body),
                                                     &traffic.body)) {
    return absl::InternalError(
        absl::StrCat("the form of ", pattern.name, " is wrong"));
  }
  return traffic;
}

const std::vector<Pattern>& AllPatterns() {
  static const auto& patterns = *new std::vector<Pattern>{
      ClientServerPattern(),
      CliquePattern(),
      RectangularPattern(),
      TripartitePattern(),
      StochasticPattern(),
      MultiLevelRpcPattern(),
      VariableResponseMultiLevelRpcPattern(),
      FeedAggregatorPattern(),
      StorageServicePattern(),
      InferencePattern(),
      StreamingPattern(),
      HomaCpNodePattern(),
  };
  return patterns;
}

std::vector<std::string> PatternNames() { return base::NamesOf(AllPatterns()); }

const Pattern* FindPattern(absl::string_view name) {
  return base::FindNamed(AllPatterns(), name);
}

}  // namespace distbench::test_builder
