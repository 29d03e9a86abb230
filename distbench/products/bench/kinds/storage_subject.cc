#include "distbench/products/bench/kinds/storage_subject.h"

#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/products/protection/experiment/antagonist_names.h"

namespace distbench::bench {
namespace {

constexpr char kDefaultPattern[] = "storage_service";
constexpr char kHog[] = "memory_hog";

// The shares that resctl-bench gives its workload and its system: CPU 10:1, I/O
// 10:1, and three quarters of the memory for the workload.
constexpr int kSubjectCpuWeight = 100;
constexpr int kHogCpuWeight = 10;
constexpr int kSubjectIoWeight = 500;
constexpr int kHogIoWeight = 50;
constexpr char kSubjectMemoryLow[] = "75%";

void AddText(const char* name, const std::string& text,
             ActivityConfig& activity) {
  NamedSetting& setting = *activity.add_activity_settings();
  setting.set_name(name);
  setting.set_string_value(text);
}

void AddHogActivity(int64_t bytes, DistributedSystemDescription& test) {
  ActivityConfig& activity = *test.add_activity_configs();
  activity.set_name(kHog);
  AddText("activity_func", "GrowMemory", activity);
  NamedSetting& limit = *activity.add_activity_settings();
  limit.set_name("limit_bytes");
  limit.set_int64_value(bytes);
}

void AddControls(const DistributedSystemDescription& test,
                 Experiment& experiment) {
  ControlSet& controls = *experiment.add_controls();
  controls.set_name("protected");
  std::set<std::string> servers;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    servers.insert(rpc.server());
  }
  ControlGroup& subject = *controls.add_groups();
  for (const std::string& server : servers) subject.add_services(server);
  subject.set_cpu_weight(kSubjectCpuWeight);
  subject.set_io_weight(kSubjectIoWeight);
  subject.set_memory_low(kSubjectMemoryLow);
  ControlGroup& hog = *controls.add_groups();
  hog.add_services(protection::AntagonistService(experiment.antagonists(0)));
  hog.set_cpu_weight(kHogCpuWeight);
  hog.set_io_weight(kHogIoWeight);
}

}  // namespace

absl::StatusOr<DistributedSystemDescription> SubjectOf(
    const PropertyValues& values, const JobEnvironment& environment) {
  const std::string infile = values.Text("infile");
  std::string pattern = values.Text("pattern");
  if (!infile.empty() && !pattern.empty()) {
    return absl::InvalidArgumentError(
        "infile= and pattern= exclude each other");
  }
  if (infile.empty()) {
    if (pattern.empty()) pattern = kDefaultPattern;
    return environment.build_test(pattern);
  }
  absl::StatusOr<TestSequence> tests = environment.load_tests(infile);
  if (!tests.ok()) return tests.status();
  if (tests->tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(infile, " has ", tests->tests_size(),
                     " tests; the job needs exactly one"));
  }
  return std::move(*tests->mutable_tests(0));
}

void AddMemoryHog(const MemoryHogOptions& options,
                  DistributedSystemDescription& test) {
  AddHogActivity(options.hog_bytes, test);
  // By default, a test ends when its host has hardly any memory left, which is
  // what the hog is for.
  if (!test.overload_limits().has_max_memory_bytes()) {
    test.mutable_overload_limits()->set_max_memory_bytes(
        std::numeric_limits<int64_t>::max());
  }
  Experiment& experiment = *test.mutable_experiment();
  experiment.mutable_subject()->set_objective(options.objective);
  experiment.mutable_subject()->add_loads(options.load);
  Antagonist& antagonist = *experiment.add_antagonists();
  antagonist.set_name(kHog);
  antagonist.set_activity(kHog);
  AddControls(test, experiment);
  experiment.mutable_phases()->set_interfere(options.interfere);
  experiment.mutable_phases()->set_stabilise(options.stabilise);
  experiment.set_repeat(options.repetitions);
}

}  // namespace distbench::bench
