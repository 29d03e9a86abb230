// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <memory>
#include <utility>

#include "distbench/base/plugins.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/products/external/allowed_targets.h"
#include "distbench/products/external/calls/external_router.h"
#include "distbench/products/external/external_language.h"
#include "distbench/products/external/external_services.h"
#include "distbench/products/external/pattern_file.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/security/test_guards.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::external {
namespace {

const base::Plugin<base::Product> kProduct(
    "external", new base::Product{"Calls services that are not distbench's"});

// Lets an instance make the external calls of its service.
class CallsExtension final : public protocol::DriverExtension {
 public:
  std::unique_ptr<protocol::ProtocolDriver> Extend(
      std::unique_ptr<protocol::ProtocolDriver> driver,
      const protocol::DriverOwner& owner) const override {
    ExternalCalls calls =
        ExternalCallsOf(owner.test, owner.service, owner.limits);
    if (calls.calls.empty()) return driver;
    calls.instance_name = owner.instance;
    // Numbers within services would make instances of two services send the
    // same values.
    calls.instance_number = owner.number;
    return MakeExternalRouter(std::move(driver), std::move(calls));
  }
};

const base::Plugin<report::FindingRule> kFindings(
    "external",
    new report::FindingRule{JudgeExternalCalls,
                            {"time_parts_external", "external_unverified",
                             "external_response_limit", kAddressesFinding}});
const base::Plugin<config::LanguagePart> kLanguage("external",
                                                   new ExternalLanguage);
const base::Plugin<security::GuardFlag> kAllowTarget("external",
                                                     new AllowTargetFlag);
const base::Plugin<protocol::DriverExtension> kCalls("external",
                                                     new CallsExtension);
const base::Plugin<test_builder::PatternText> kPattern(
    "external", new test_builder::PatternText{kExternalYaml});

}  // namespace
}  // namespace distbench::external
