// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/tests_of_job.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/jobs/passive_controls.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/search/resumption.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/results/resource_usage.h"
#include "google/protobuf/util/message_differencer.h"

namespace distbench::bench {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr char kInfileProperty[] = "infile";

// A parameter: the tests with which a job has measured, as hashes.
constexpr char kMeasuredTests[] = "tests";

// A parameter: the hosts on which it has measured.
constexpr char kMeasuredHosts[] = "hosts";

std::string InfileOf(const BenchJob& job) {
  const auto found = job.properties().find(kInfileProperty);
  return found == job.properties().end() ? "" : found->second;
}

bool HasIoWeight(const ControlSet& controls) {
  for (const ControlGroup& group : controls.groups()) {
    if (group.has_io_weight()) return true;
  }
  return false;
}

// Whether a test means the disk that was measured, by number or by name.
bool IsDiskOf(const std::string& device, const BenchJob& from) {
  if (device == FindText(from.outcome(), kIoCostDevice)) return true;
  for (const BenchSystem& system : from.systems()) {
    for (const BlockDeviceFacts& disk : system.devices()) {
      if (!device.empty() && device == disk.name()) return true;
    }
  }
  return false;
}

// Returns whether anything was taken.
bool Complete(const BenchJob& from, ControlSet& controls) {
  const IoCostSettings found = IoCostFrom(from.outcome());
  bool is_changed = false;
  if (controls.io_cost().empty() && HasIoWeight(controls)) {
    controls.add_io_cost()->set_enable(true);
  }
  for (IoCostSettings& settings : *controls.mutable_io_cost()) {
    if (settings.device().empty()) {
      settings.set_device(found.device());
      is_changed = true;
    }
    if (!settings.enable() || !IsDiskOf(settings.device(), from)) continue;
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

// Returns whether anything was taken.
bool CompleteAll(const BenchJob& from, DistributedSystemDescription& test) {
  bool is_changed = false;
  if (test.has_controls())
    is_changed = Complete(from, *test.mutable_controls());
  if (!test.has_experiment()) return is_changed;
  for (ControlSet& controls : *test.mutable_experiment()->mutable_controls()) {
    is_changed |= Complete(from, controls);
  }
  return is_changed;
}

// The parameters of a disk are those of no other disk, and hosts may have disks
// of the same name and number.
absl::Status CheckRunsWhereMeasured(const BenchJob& from,
                                    const std::set<std::string>& hosts) {
  const std::string measured =
      from.systems().empty() ? "" : from.systems(0).hostname();
  if (hosts == std::set{measured}) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      JobTitle(from.kind(), from.id()), " measured disk ",
      FindText(from.outcome(), kIoCostDevice), " of host \"", measured,
      "\", but the tests run on ",
      hosts.empty() ? "no host yet"
                    : absl::StrCat("\"", absl::StrJoin(hosts, "\", \""), "\""),
      ", whose disks are others; run the sequence on that host without "
      "--test_sequencer, write model and qos into the tests' io_cost, or leave "
      "I/O alone with passive=io"));
}

bool Has(const TestSequence& tests, const ActivityConfig& activity) {
  for (const DistributedSystemDescription& test : tests.tests()) {
    for (const ActivityConfig& other : test.activity_configs()) {
      if (MessageDifferencer::Equals(other, activity)) return true;
    }
  }
  return false;
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
    system.set_cpu_count(results::CpuCountOf(host));
    system.set_memory_bytes(host.memory_bytes());
  }
}

bool IoCostHeld(const TestResult& result) {
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    for (const ControlProof& proof : node.controls()) {
      if (absl::StartsWith(proof.file(), "io.cost.") && !proof.held()) {
        return false;
      }
    }
  }
  return true;
}

// The io.cost settings that held while the tests ran, by device as they name
// it.
std::map<std::string, IoCostSettings> IoCostOf(
    const TestSequenceResults& results) {
  std::map<std::string, IoCostSettings> settings;
  for (const TestResult& result : results.test_results()) {
    if (!IoCostHeld(result)) continue;
    for (const IoCostSettings& one :
         result.traffic_config().controls().io_cost()) {
      settings[one.device()] = one;
    }
  }
  return settings;
}

// The folders in which activities of the job's tests have their files.
std::set<std::string> FoldersOf(const BenchJob& job) {
  std::set<std::string> folders;
  for (const DistributedSystemDescription& test : job.tests().tests()) {
    for (const ActivityConfig& activity : test.activity_configs()) {
      for (const NamedSetting& setting : activity.activity_settings()) {
        if (setting.name() == "directory")
          folders.insert(setting.string_value());
      }
    }
  }
  return folders;
}

// The disks of this host that the job uses; what is on no disk is left out.
std::set<std::string> DisksOf(const BenchJob& job, const std::string& root) {
  std::set<std::string> disks;
  for (const std::string& folder : FoldersOf(job)) {
    const absl::StatusOr<std::string> disk = DiskOfFile(folder, root);
    if (disk.ok()) disks.insert(*disk);
  }
  for (const auto& [device, settings] : IoCostOf(job.results())) {
    const absl::StatusOr<std::string> disk =
        absl::StrContains(device, ":") ? DiskOfNumber(device, root)
                                       : absl::StatusOr<std::string>(device);
    if (disk.ok()) disks.insert(*disk);
  }
  return disks;
}

// The tests' settings have been undone when their job has ended.
void AddDevices(const JobEnvironment& environment, const BenchJob& job,
                BenchSystem& system) {
  const std::map<std::string, IoCostSettings> io_cost = IoCostOf(job.results());
  for (const std::string& disk : DisksOf(job, environment.host_root)) {
    BlockDeviceFacts& facts = *system.add_devices();
    facts = ReadBlockDevice(disk, environment.host_root);
    for (const std::string& name : {facts.name(), facts.number()}) {
      const auto held = io_cost.find(name);
      if (held != io_cost.end()) *facts.mutable_io_cost() = held->second;
    }
  }
}

}  // namespace

absl::Status UseIoCost(
    absl::Span<const BenchJob* const> earlier,
    absl::FunctionRef<absl::StatusOr<std::set<std::string>>()> hosts,
    DistributedSystemDescription& test, BenchJob& job) {
  const BenchJob* from = NearestOf("iocost-params", earlier);
  if (from == nullptr) return absl::OkStatus();
  for (const std::string& controller : job.passive()) {
    if (controller == "io") return absl::OkStatus();
  }
  if (!CompleteAll(*from, test)) return absl::OkStatus();
  const absl::StatusOr<std::set<std::string>> names = hosts();
  if (!names.ok()) return names.status();
  absl::Status status = CheckRunsWhereMeasured(*from, *names);
  if (!status.ok()) return status;
  for (const BenchValue& value : from->outcome()) {
    if (value.name() == kIoCostDevice) {
      AddTaken(*from, value, *job.mutable_parameters());
    }
  }
  return absl::OkStatus();
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
      if (!Has(from->tests(), activity)) continue;
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

const BenchJob* SearchOf(absl::Span<const BenchJob* const> earlier,
                         const BenchJob& job) {
  const std::string infile = InfileOf(job);
  if (infile.empty()) return nullptr;
  for (const BenchJob* from : earlier) {
    if (from->kind() == "search" && from->state() == BenchJob::DONE &&
        InfileOf(*from) == infile &&
        FindNumber(from->outcome(), kRateFactor).has_value() &&
        MessageDifferencer::Equals(from->tests(), job.tests())) {
      return from;
    }
  }
  return nullptr;
}

void AddOnce(const std::string& sentence, BenchJob& job) {
  for (const std::string& missed : job.missed_requirements()) {
    if (missed == sentence) return;
  }
  job.add_missed_requirements(sentence);
}

namespace {

// What was noted of the records; empty if nothing was, or if there are none.
std::string Noted(const char* name, const BenchJob& job) {
  return job.results().ByteSizeLong() > 0 ? FindText(job.parameters(), name)
                                          : "";
}

void Note(const char* name, const std::string& text, BenchJob& job) {
  RemoveValue(name, *job.mutable_parameters());
  AddText(name, text, *job.mutable_parameters());
}

absl::Status CheckSameTests(const TestSequence& tests,
                            const std::vector<std::string>& hashes,
                            const BenchJob& job) {
  const std::string before = Noted(kMeasuredTests, job);
  if (before.empty()) return absl::OkStatus();
  const std::vector<std::string> measured = absl::StrSplit(before, '+');
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (i < measured.size() && measured[i] == hashes[i]) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "what it measured before was with another test \"",
        tests.tests(static_cast<int>(i)).name(),
        "\", because an earlier job has found something else since; give the "
        "job another id=, or use another file"));
  }
  return absl::OkStatus();
}

// The hosts that the job is known to have used.
std::set<std::string> UsedHosts(const BenchJob& job) {
  std::set<std::string> hosts;
  for (const BenchSystem& system : job.systems()) {
    if (system.has_hostname()) hosts.insert(system.hostname());
  }
  return hosts;
}

// The hosts on which it had measured before: those that were noted, because not
// every result is kept. Earlier versions only described those of its results.
std::set<std::string> HostsBefore(const BenchJob& job) {
  const std::string noted = Noted(kMeasuredHosts, job);
  if (!noted.empty()) return absl::StrSplit(noted, ',');
  return job.results().ByteSizeLong() > 0 ? UsedHosts(job)
                                          : std::set<std::string>();
}

absl::Status CheckHosts(const std::set<std::string>& before,
                        const std::set<std::string>& now) {
  return search::CheckHosts(
      before, now,
      "run the sequence there again, with the same --test_sequencer or without "
      "one, or give the job another id=");
}

}  // namespace

absl::Status TieRecordsTo(const TestSequence& tests,
                          const std::set<std::string>& hosts, BenchJob& job) {
  std::vector<std::string> hashes;
  for (const DistributedSystemDescription& test : tests.tests()) {
    hashes.push_back(config::ConfigHash(test));
  }
  absl::Status same = CheckSameTests(tests, hashes, job);
  same.Update(CheckHosts(HostsBefore(job), hosts));
  if (!same.ok()) return same;
  Note(kMeasuredTests, absl::StrJoin(hashes, "+"), job);
  Note(kMeasuredHosts, absl::StrJoin(hosts, ","), job);
  return absl::OkStatus();
}

absl::Status TieRecordsTo(const TestSequence& tests, const JobRun& run) {
  const absl::StatusOr<std::set<std::string>> hosts = HostsOf(run.environment);
  if (!hosts.ok()) return hosts.status();
  return TieRecordsTo(tests, *hosts, run.job);
}

namespace {

absl::StatusOr<TestSequence> Adapt(TestSequence tests, const JobRun& run) {
  BenchValues& parameters = *run.job.mutable_parameters();
  parameters.erase(std::remove_if(parameters.begin(), parameters.end(),
                                  [](const BenchValue& value) {
                                    return value.name() != kMeasuredTests &&
                                           value.name() != kMeasuredHosts;
                                  }),
                   parameters.end());
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    LeaveUntouched(run.spec.passive, test);
    const absl::Status status = UseIoCost(
        run.earlier, [&] { return HostsOf(run.environment); }, test, run.job);
    if (!status.ok()) return status;
    UseCalibration(run.earlier, test, run.job);
  }
  return config::CheckTestSequence(std::move(tests));
}

}  // namespace

absl::StatusOr<TestSequence> AdaptedTests(TestSequence tests,
                                          const JobRun& run) {
  const BenchValues before = run.job.parameters();
  absl::StatusOr<TestSequence> adapted = Adapt(std::move(tests), run);
  if (!adapted.ok()) *run.job.mutable_parameters() = before;
  return adapted;
}

std::vector<int> UnmeasuredTests(const TestSequence& tests,
                                 const TestSequenceResults& results) {
  std::vector<int> places;
  for (int i = 0; i < tests.tests_size(); ++i) {
    const bool is_measured = i < results.test_results_size() &&
                             report::OutcomeOf(results.test_results(i)) ==
                                 report::RunOutcome::kMeasured;
    if (!is_measured) places.push_back(i);
  }
  return places;
}

void PutResult(int place, TestResult result, TestSequenceResults& results) {
  if (place < results.test_results_size()) {
    *results.mutable_test_results(place) = std::move(result);
  } else {
    *results.add_test_results() = std::move(result);
  }
}

void AddStorageRequirements(BenchJob& job) {
  for (const BenchSystem& system : job.systems()) {
    for (const std::string& missed : MissedStorageRequirements(system)) {
      AddOnce(missed, job);
    }
  }
}

absl::Status DescribeDisk(const std::string& disk, const std::string& root,
                          BenchJob& job) {
  BenchSystem here = ReadHostSystem(root);
  *here.add_devices() = ReadBlockDevice(disk, root);
  if (job.systems().empty() || job.systems(0).devices().empty()) {
    job.clear_io_phases();  // of what, nobody knows
  }
  if (!job.io_phases().empty()) {
    absl::Status same = CheckHosts(UsedHosts(job), {here.hostname()});
    if (!same.ok()) return same;
    same = search::CheckSame(
        "its disk has other settings than when it was measured, or is another "
        "one; restore them, or give the job another id=",
        job.systems(0).devices(0), here.devices(0));
    if (!same.ok()) return same;
  }
  job.clear_systems();
  *job.add_systems() = std::move(here);
  return absl::OkStatus();
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
