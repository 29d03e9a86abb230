// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/legacy_tests.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::sequencer {
namespace {

constexpr char kFindingCode[] = "adapted_test";

class Adaptation {
 public:
  Adaptation(DistributedSystemDescription& test, const config::Path& path)
      : test_(test), path_(path), names_(test) {}

  // Call once.
  std::vector<Finding> Run() {
    for (RpcSpec& rpc : *test_.mutable_rpc_descriptions()) {
      const config::Path path = path_.Field("rpc_descriptions").At(rpc.name());
      if (IsUnknown(rpc.request_payload_name())) {
        WarnOfPayload(path.Field("request_payload_name"),
                      rpc.request_payload_name());
        rpc.clear_request_payload_name();
      }
      if (IsUnknown(rpc.response_payload_name())) {
        WarnOfPayload(path.Field("response_payload_name"),
                      rpc.response_payload_name());
        rpc.clear_response_payload_name();
      }
    }
    for (int i = 0; i < test_.activity_configs_size(); ++i) {
      DropArraySize(path_.Field("activity_configs").At(i),
                    *test_.mutable_activity_configs(i));
    }
    AddMainList();
    return std::move(warnings_);
  }

 private:
  bool IsUnknown(const std::string& payload) const {
    return !payload.empty() && names_.payloads.Find(payload) == config::kNone;
  }

  void Warn(const config::Path& path, absl::string_view text) {
    Finding& warning = warnings_.emplace_back();
    warning.set_severity(Finding::WARN);
    warning.set_code(kFindingCode);
    warning.set_message(absl::StrCat(path.text(), ": ", text));
  }

  void WarnOfPayload(const config::Path& path, const std::string& payload) {
    Warn(path, absl::StrCat("no payload_descriptions entry is named ",
                            config::Quoted(payload),
                            ", so the default size is used; correct the name"));
  }

  void DropArraySize(const config::Path& path, ActivityConfig& activity) {
    auto& settings = *activity.mutable_activity_settings();
    const auto is_of_instructions = [](const NamedSetting& setting) {
      return setting.name() == "activity_func" &&
             setting.string_value() == "PolluteInstructionCache";
    };
    const auto size =
        absl::c_find_if(settings, [](const NamedSetting& setting) {
          return setting.name() == "array_size";
        });
    if (size == settings.end() ||
        !absl::c_any_of(settings, is_of_instructions)) {
      return;
    }
    settings.erase(size);
    Warn(path.Field("activity_settings"),
         "array_size is left out, as PolluteInstructionCache has no array; "
         "its work is function_invocations_per_iteration");
  }

  void AddMainList() {
    const auto& services = names_.services.names();
    const bool has_main_list = std::any_of(
        services.begin(), services.end(), [this](const std::string& service) {
          return names_.lists.Find(service) != config::kNone;
        });
    if (has_main_list || services.empty()) return;
    test_.add_action_lists()->set_name(services.front());
    Warn(path_.Field("action_lists"),
         "none has a service's name, so the test sends nothing; add the main "
         "program of a service under its name");
  }

  DistributedSystemDescription& test_;
  const config::Path path_;
  const config::TestNames names_;
  std::vector<Finding> warnings_;
};

}  // namespace

std::map<int, std::vector<Finding>> AdaptLegacyTests(TestSequence& sequence) {
  std::map<int, std::vector<Finding>> warnings;
  for (int i = 0; i < sequence.tests_size(); ++i) {
    Adaptation adaptation(*sequence.mutable_tests(i),
                          config::Path("tests").At(i));
    std::vector<Finding> of_test = adaptation.Run();
    if (!of_test.empty()) warnings[i] = std::move(of_test);
  }
  return warnings;
}

}  // namespace distbench::sequencer
