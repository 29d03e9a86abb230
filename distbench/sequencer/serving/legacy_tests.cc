#include "distbench/sequencer/serving/legacy_tests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"

namespace distbench {
namespace {

constexpr char kFindingCode[] = "adapted_test";

class Adaptation {
 public:
  Adaptation(DistributedSystemDescription& test, const Path& path)
      : test_(test), path_(path), names_(test) {}

  // Call once.
  std::vector<std::string> Run() {
    for (RpcSpec& rpc : *test_.mutable_rpc_descriptions()) {
      const Path path = path_.Field("rpc_descriptions").At(rpc.name());
      if (IsUnknown(rpc.request_payload_name())) {
        Warn(path.Field("request_payload_name"), rpc.request_payload_name());
        rpc.clear_request_payload_name();
      }
      if (IsUnknown(rpc.response_payload_name())) {
        Warn(path.Field("response_payload_name"), rpc.response_payload_name());
        rpc.clear_response_payload_name();
      }
    }
    AddMainList();
    return std::move(warnings_);
  }

 private:
  bool IsUnknown(const std::string& payload) const {
    return !payload.empty() && names_.payloads.Find(payload) == kNone;
  }

  void Warn(const Path& path, const std::string& payload) {
    warnings_.push_back(absl::StrCat(
        path.text(), ": no payload_descriptions entry is named ",
        Quoted(payload), ", so the default size is used; correct the name"));
  }

  void AddMainList() {
    const auto& services = names_.services.names();
    const bool has_main_list = std::any_of(
        services.begin(), services.end(), [this](const std::string& service) {
          return names_.lists.Find(service) != kNone;
        });
    if (has_main_list || services.empty()) return;
    test_.add_action_lists()->set_name(services.front());
    warnings_.push_back(absl::StrCat(
        path_.Field("action_lists").text(),
        ": none has a service's name, so the test sends nothing; add the main "
        "program of a service under its name"));
  }

  DistributedSystemDescription& test_;
  const Path path_;
  const TestNames names_;
  std::vector<std::string> warnings_;
};

}  // namespace

WarningsByTest AdaptLegacyTests(TestSequence& sequence) {
  WarningsByTest warnings;
  for (int i = 0; i < sequence.tests_size(); ++i) {
    Adaptation adaptation(*sequence.mutable_tests(i), Path("tests").At(i));
    std::vector<std::string> of_test = adaptation.Run();
    if (!of_test.empty()) warnings[i] = std::move(of_test);
  }
  return warnings;
}

void AddWarnings(const std::vector<std::string>& warnings, TestResult& result) {
  for (const std::string& warning : warnings) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(Finding::WARN);
    finding.set_code(kFindingCode);
    finding.set_message(warning);
    result.add_log_summary(absl::StrCat("warning: ", warning));
  }
}

}  // namespace distbench
