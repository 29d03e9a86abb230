#include "distbench/sequences/kinds/tests_of_job.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"
#include "distbench/sequences/block_devices/block_device.h"
#include "distbench/sequences/block_devices/host_system.h"
#include "distbench/sequences/jobs/passive_controls.h"
#include "distbench/sequences/kinds/io_cost_outcome.h"
#include "distbench/sequences/kinds/values.h"

namespace distbench {
namespace {

constexpr char kInfile[] = "infile";

std::string InfileOf(const BenchJob& job) {
  const auto found = job.properties().find(kInfile);
  return found == job.properties().end() ? "" : found->second;
}

bool HasIoWeight(const ControlSet& controls) {
  for (const ControlGroup& group : controls.groups()) {
    if (group.has_io_weight()) return true;
  }
  return false;
}

// Returns whether anything was taken.
bool Complete(const IoCostSettings& found, ControlSet& controls) {
  bool is_changed = false;
  if (controls.io_cost().empty() && HasIoWeight(controls)) {
    controls.add_io_cost()->set_enable(true);
  }
  for (IoCostSettings& settings : *controls.mutable_io_cost()) {
    if (settings.device().empty()) settings.set_device(found.device());
    if (settings.device() != found.device() || !settings.enable()) continue;
    if (!settings.has_model()) {
      *settings.mutable_model() = found.model();
      is_changed = true;
    }
    if (!settings.has_qos()) {
      *settings.mutable_qos() = found.qos();
      is_changed = true;
    }
  }
  return is_changed;
}

void SetSetting(const std::string& name, int64_t value,
                ActivityConfig& activity) {
  for (NamedSetting& setting : *activity.mutable_activity_settings()) {
    if (setting.name() != name) continue;
    setting.clear_string_value();
    setting.set_int64_value(value);
    return;
  }
  NamedSetting& added = *activity.add_activity_settings();
  added.set_name(name);
  added.set_int64_value(value);
}

void AddOnce(const std::string& sentence, BenchJob& job) {
  for (const std::string& missed : job.missed_requirements()) {
    if (missed == sentence) return;
  }
  job.add_missed_requirements(sentence);
}

void AddHosts(const TestResult& result, BenchJob& job) {
  std::set<std::string> known;
  for (const BenchSystem& system : job.systems()) {
    known.insert(system.hostname());
  }
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    const HostFacts& host = node.host();
    for (const ControlProof& proof : node.controls()) {
      if (proof.held()) continue;
      AddOnce(absl::StrCat(host.hostname(), ": ", proof.file(), " of ",
                           proof.group(), " did not hold: ", proof.problem()),
              job);
    }
    if (!known.insert(host.hostname()).second) continue;
    BenchSystem& system = *job.add_systems();
    system.set_hostname(host.hostname());
    system.set_kernel(host.kernel());
    system.set_cpu_count(host.online_cpu_count());
    system.set_memory_bytes(host.memory_bytes());
  }
}

// The disks that the tests of the results control.
std::set<std::string> DevicesOf(const TestSequenceResults& results) {
  std::set<std::string> devices;
  for (const TestResult& result : results.test_results()) {
    for (const IoCostSettings& settings :
         result.traffic_config().controls().io_cost()) {
      devices.insert(settings.device());
    }
  }
  return devices;
}

void AddDevices(const JobEnvironment& environment, BenchJob& job,
                BenchSystem& system) {
  std::set<std::string> known;
  for (const BlockDeviceFacts& device : system.devices()) {
    known.insert(device.name());
  }
  for (const std::string& device : DevicesOf(job.results())) {
    const absl::StatusOr<std::string> disk =
        absl::StrContains(device, ":")
            ? DiskOfNumber(device, environment.host_root)
            : absl::StatusOr<std::string>(device);
    if (disk.ok() && known.insert(*disk).second) {
      *system.add_devices() = ReadBlockDevice(*disk, environment.host_root);
    }
  }
}

}  // namespace

void UseIoCost(absl::Span<const BenchJob* const> earlier,
               DistributedSystemDescription& test, BenchJob& job) {
  const BenchJob* from = NearestOf("iocost-params", earlier);
  if (from == nullptr) return;
  const IoCostSettings found = IoCostFrom(from->outcome());
  for (const std::string& controller : job.passive()) {
    if (controller == "io") return;
  }
  bool is_used = false;
  if (test.has_controls()) is_used |= Complete(found, *test.mutable_controls());
  if (test.has_experiment()) {
    for (ControlSet& controls :
         *test.mutable_experiment()->mutable_controls()) {
      is_used |= Complete(found, controls);
    }
  }
  if (!is_used) return;
  for (const BenchValue& value : from->outcome()) {
    if (value.name() == kIoCostDevice) {
      AddTaken(*from, value, *job.mutable_parameters());
    }
  }
}

void UseCalibration(absl::Span<const BenchJob* const> earlier,
                    DistributedSystemDescription& test, BenchJob& job) {
  const std::string infile = InfileOf(job);
  if (infile.empty()) return;
  for (const BenchJob* from : earlier) {
    if (from->kind() != "calibrate" || from->state() != BenchJob::DONE ||
        InfileOf(*from) != infile) {
      continue;
    }
    for (ActivityConfig& activity : *test.mutable_activity_configs()) {
      const std::string prefix = activity.name() + ".";
      for (const BenchValue& value : from->outcome()) {
        if (!absl::StartsWith(value.name(), prefix)) continue;
        SetSetting(value.name().substr(prefix.size()),
                   std::llround(value.number()), activity);
        AddTaken(*from, value, *job.mutable_parameters());
      }
    }
    return;
  }
}

absl::StatusOr<TestSequence> AdaptedTests(TestSequence tests,
                                          const JobRun& run) {
  run.job.clear_parameters();
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    LeaveUntouched(run.spec.passive, test);
    UseIoCost(run.earlier, test, run.job);
    UseCalibration(run.earlier, test, run.job);
  }
  return CheckTestSequence(std::move(tests));
}

void AddStorageRequirements(BenchJob& job) {
  for (const BenchSystem& system : job.systems()) {
    for (const std::string& missed : MissedStorageRequirements(system)) {
      AddOnce(missed, job);
    }
  }
}

void DescribeSystems(const JobEnvironment& environment, BenchJob& job) {
  job.clear_systems();
  if (environment.test_sequencer.empty()) {
    BenchSystem& here = *job.add_systems();
    here = ReadHostSystem(environment.host_root);
    AddDevices(environment, job, here);
  }
  for (const TestResult& result : job.results().test_results()) {
    AddHosts(result, job);
  }
}

}  // namespace distbench
