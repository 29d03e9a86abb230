// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/test_factory.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "test_builder/building/config_string.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {
namespace {

constexpr char kExtraContents[] = "extra_test_contents";
constexpr char kOptionsName[] = "default_protocol_driver_options";

// A setting that is not a parameter becomes an attribute with a note, or is an
// error.
absl::Status CheckNames(const TestRequest& request,
                        const Vocabulary& vocabulary, Notes& notes) {
  std::vector<std::string> problems;
  for (const auto& [name, value] : request.settings) {
    if (IsDerived(name)) {
      problems.push_back(absl::StrCat(
          name, ": follows from other settings and cannot be set"));
    } else if (vocabulary.Find(name) == nullptr) {
      const std::optional<std::string> meant = vocabulary.MeantBy(name);
      if (meant.has_value() && !request.allow_extra) {
        problems.push_back(absl::StrCat(
            name, ": not a parameter of ", vocabulary.pattern().name(), " or ",
            vocabulary.protocol().name(), "; did you mean ", *meant,
            "? --allow_extra accepts it as an attribute"));
        continue;
      }
      const std::string owners = WhereKnown(name);
      notes.Add(absl::StrCat(
          name, " is not a parameter of ", vocabulary.pattern().name(), " or ",
          vocabulary.protocol().name(),
          owners.empty() ? "" : absl::StrCat(" (but of ", owners, ")"),
          "; it becomes an attribute with no other effect"));
    }
  }
  return ToStatus(problems);
}

void AddProtocolOptions(const ParameterValues& values,
                        const ProtocolDriverOptions& options,
                        DistributedSystemDescription& test) {
  ProtocolDriverOptions& added = *test.add_protocol_driver_options();
  added = options;
  added.set_name(kOptionsName);
  added.set_protocol_name(values.Text(kProtocolSetting));
  if (values.Has(kIpVersionSetting)) {
    added.set_ip_version(values.Text(kIpVersionSetting) == "4" ? 4 : 6);
  }
}

void AddAttributes(const TestRequest& request, const ParameterValues& values,
                   const Traffic& traffic, const ProtocolSetup& protocol,
                   DistributedSystemDescription& test) {
  auto& attributes = *test.mutable_attributes();
  for (const auto& [name, value] : request.settings) attributes[name] = value;
  for (const auto& [name, value] : values.all()) attributes[name] = value;
  attributes.erase(kExtraContents);
  attributes["config_label"] = request.config_label;
  attributes["protocol_alias"] = protocol.alias;
  attributes["test_timeout"] = absl::StrCat(TestTimeoutSeconds(values));
  attributes["traffic_alias"] = traffic.alias;
  if (!request.swept_parameters.empty()) {
    attributes["swept_parameter"] = request.swept_parameters;
  }
  if (values.Has(kIpVersionSetting)) {
    attributes["ip_version_string"] =
        absl::StrCat("ipv", values.Text(kIpVersionSetting));
  }
}

// Requires a value that was checked.
absl::Status SetArrivals(const std::string& text,
                         DistributedSystemDescription& test) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<Arrivals> arrivals = ParseArrivals(text);
  if (!arrivals.ok()) return arrivals.status();
  bool is_used = false;
  for (Action& action : *test.mutable_actions()) {
    const Iterations& iterations = action.iterations();
    if (!iterations.has_open_loop_interval_ns() && !iterations.has_rate()) {
      continue;
    }
    action.mutable_iterations()->clear_open_loop_interval_distribution();
    *action.mutable_iterations()->mutable_arrivals() = *arrivals;
    is_used = true;
  }
  if (is_used) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(kArrivals,
                   ": this pattern has no open loop; leave it out, or choose a "
                   "pattern with a rate"));
}

absl::Status AddExtraContents(const std::string& contents,
                              DistributedSystemDescription& test) {
  if (contents.empty()) return absl::OkStatus();
  // On the same line, so that line numbers in errors are those of the contents.
  const absl::StatusOr<TestSequence> extra = config::ParseTestSequence(
      absl::StrCat("tests { ", contents, "\n}"), kExtraContents);
  if (!extra.ok()) return extra.status();
  if (extra->tests_size() != 1 || extra->has_tests_setting()) {
    return absl::InvalidArgumentError(absl::StrCat(
        kExtraContents, ": reaches beyond its test; braces must be balanced"));
  }
  test.MergeFrom(extra->tests(0));
  return absl::OkStatus();
}

// Listing more would not help.
constexpr size_t kMaxProblems = 20;

// Always the same, because tests are checked one at a time.
constexpr absl::string_view kPathPrefix = "tests[0].";

// What is measured in less time says little.
constexpr double kShortNs = 2e9;

void NoteLongWarmups(const DistributedSystemDescription& test, Notes& notes) {
  for (const Action& action : test.actions()) {
    const Iterations& iterations = action.iterations();
    if (!iterations.has_max_duration_us()) continue;
    const double warmup_ns = config::WarmupNs(iterations);
    const double duration_ns =
        static_cast<double>(iterations.max_duration_us()) * 1e3;
    const double measured_ns = duration_ns - warmup_ns;
    // A short test is short by itself.
    if (measured_ns >= std::min(kShortNs, warmup_ns)) continue;
    notes.Add(absl::StrCat(
        test.name(), ": ",
        measured_ns > 0 ? absl::StrCat("only ", measured_ns / 1e9, " s are")
                        : "little or nothing is",
        " measured, as the warm-up takes ", warmup_ns / 1e9, " s of ",
        duration_ns / 1e9, " s; make the test longer with -t"));
  }
}

}  // namespace

absl::StatusOr<DistributedSystemDescription> BuildTest(
    const TestRequest& request, Notes& notes) {
  const absl::StatusOr<Vocabulary> vocabulary =
      Vocabulary::For(request.settings);
  if (!vocabulary.ok()) return vocabulary.status();
  if (const absl::Status status = CheckNames(request, *vocabulary, notes);
      !status.ok()) {
    return status;
  }
  const absl::StatusOr<ParameterValues> values =
      ParameterValues::Resolve(vocabulary->parameters(), request.settings);
  if (!values.ok()) return values.status();
  absl::StatusOr<Traffic> traffic =
      BuildTraffic(vocabulary->pattern(), *values);
  if (!traffic.ok()) return traffic.status();
  const ProtocolSetup protocol = SetUp(vocabulary->protocol(), *values);

  DistributedSystemDescription test = std::move(traffic->body);
  AddProtocolOptions(*values, protocol.options, test);
  AddAttributes(request, *values, *traffic, protocol, test);
  if (const absl::Status status = SetArrivals(values->Text(kArrivals), test);
      !status.ok()) {
    return status;
  }
  SetTestName(
      absl::StrCat(traffic->alias, "-", protocol.alias, traffic->name_suffix),
      test);
  if (const absl::Status status =
          AddExtraContents(values->Text(kExtraContents), test);
      !status.ok()) {
    return status;
  }
  return test;
}

double TrafficSeconds(const DistributedSystemDescription& test) {
  const auto duration = test.attributes().find("test_duration");
  double seconds = 0;
  if (duration != test.attributes().end()) {
    (void)absl::SimpleAtod(duration->second, &seconds);
  }
  return seconds;
}

void SetTestName(const std::string& name, DistributedSystemDescription& test) {
  test.set_name(name);
  (*test.mutable_attributes())["test_name"] = name;
}

absl::Status CheckTests(absl::Span<const DistributedSystemDescription> tests,
                        Notes& notes) {
  std::vector<std::string> problems;
  for (const DistributedSystemDescription& test : tests) {
    TestSequence sequence;
    *sequence.add_tests() = test;
    config::Canonicalize(sequence);
    NoteLongWarmups(sequence.tests(0), notes);
    const absl::Status status =
        config::CheckTestSequence(std::move(sequence)).status();
    if (status.ok()) continue;
    for (absl::string_view line : absl::StrSplit(status.message(), '\n')) {
      problems.push_back(absl::StrCat(test.name(), ": ",
                                      absl::StripPrefix(line, kPathPrefix)));
    }
  }
  if (problems.size() > kMaxProblems) {
    const size_t dropped = problems.size() - kMaxProblems;
    problems.resize(kMaxProblems);
    problems.push_back(absl::StrCat("and ", dropped, " more problems"));
  }
  return ToStatus(problems);
}

}  // namespace distbench::test_builder
