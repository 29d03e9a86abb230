// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/language/testing/random_experiment.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace distbench::protection {
namespace {

void AddSettings(fuzzing::RandomSource& random, ControlGroup& group) {
  if (random.Chance(0.5)) group.set_cpu_weight(10'000);
  if (random.Chance(0.5)) {
    group.set_cpu_max(random.OneOf<std::string>({"max", "0.5", "33.3%"}));
  }
  if (random.Chance(0.5)) group.set_cpuset_cpus("3,0-1");
  if (random.Chance(0.5)) group.set_cpuset_mems("0");
  if (random.Chance(0.5)) group.set_memory_min("0B");
  if (random.Chance(0.5)) group.set_memory_low("12.5%");
  if (random.Chance(0.5)) group.set_memory_high("50%");
  if (random.Chance(0.5)) group.set_memory_max("max");
  if (random.Chance(0.5)) group.set_memory_swap_max("1.5GiB");
  if (random.Chance(0.5)) group.set_io_weight(1);
  if (random.Chance(0.5)) group.set_io_priority_class("idle");
  if (random.Chance(0.5)) return;
  IoLimit& limit = *group.add_io_max();
  limit.set_device(random.OneOf<std::string>({"nvme0n1", "259:0"}));
  limit.set_read_bytes("100MiB");
  if (random.Chance(0.5)) limit.set_write_bytes("1000kB");
  if (random.Chance(0.5)) limit.set_read_operations(1000);
  if (random.Chance(0.5)) limit.set_write_operations(1);
}

IoCostSettings AnyIoCost(fuzzing::RandomSource& random) {
  IoCostSettings settings;
  settings.set_device("nvme0n1");
  settings.set_enable(random.Chance(0.5));
  if (random.Chance(0.5)) {
    IoCostModel& model = *settings.mutable_model();
    model.set_rbps(random.Between(1, 1'000'000'000));
    model.set_rseqiops(1);
    model.set_rrandiops(1);
    model.set_wbps(1);
    model.set_wseqiops(1);
    model.set_wrandiops(1);
  }
  if (random.Chance(0.5)) {
    IoCostQos& qos = *settings.mutable_qos();
    qos.set_rpct(95);
    qos.set_rlat(random.Between(0, 100'000));
    qos.set_wpct(99.99);
    qos.set_wlat(1);
    qos.set_min(1);
    qos.set_max(150);
  }
  return settings;
}

}  // namespace

ControlSet AnyControls(const std::string& glob, fuzzing::RandomSource& random) {
  ControlSet controls;
  if (random.Chance(0.5)) controls.set_name("any");
  if (random.Chance(0.5)) controls.set_strict(random.Chance(0.5));
  if (random.Chance(0.8)) {
    ControlGroup& group = *controls.add_groups();
    group.add_services(glob);
    AddSettings(random, group);
  }
  if (random.Chance(0.5)) {
    ControlGroup& group = *controls.add_groups();
    group.set_everything_else(true);
    group.set_cpu_weight(1);
    AddSettings(random, group);
  }
  if (random.Chance(0.5)) *controls.add_io_cost() = AnyIoCost(random);
  return controls;
}

namespace {

constexpr char kActivity[] = "drawn_activity";

class ExperimentDraw {
 public:
  ExperimentDraw(fuzzing::RandomSource& random,
                 DistributedSystemDescription& test)
      : random_(random), test_(test) {}

  void Draw() {
    AddActivity();
    test_.clear_controls();
    test_.clear_experiment();
    DrawSubject();
    for (int64_t i = random_.Between(0, 3); i > 0; --i) DrawAntagonist();
    for (int64_t i = random_.Between(0, 2); i > 0; --i) DrawControls();
    if (random_.Chance(0.7)) DrawPhases();
    if (random_.Chance(0.7)) {
      experiment().set_repeat(static_cast<int32_t>(random_.Between(1, 3)));
    }
  }

 private:
  Experiment& experiment() { return *test_.mutable_experiment(); }

  void AddActivity() {
    for (const ActivityConfig& activity : test_.activity_configs()) {
      if (activity.name() == kActivity) return;
    }
    ActivityConfig& activity = *test_.add_activity_configs();
    activity.set_name(kActivity);
    NamedSetting& function = *activity.add_activity_settings();
    function.set_name("activity_func");
    function.set_string_value("ConsumeCpu");
  }

  std::string AnyService() {
    if (test_.services().empty() || random_.Chance(0.02)) return "nobody";
    const auto i = random_.Between(0, test_.services_size() - 1);
    const std::string name = test_.services(static_cast<int>(i)).name();
    return random_.Chance(0.2) ? name.substr(0, 1) + "*" : name;
  }

  std::string AnyRpc() {
    if (test_.rpc_descriptions().empty()) return "nothing";
    const auto i = random_.Between(0, test_.rpc_descriptions_size() - 1);
    return test_.rpc_descriptions(static_cast<int>(i)).name();
  }

  std::string AnyDuration() {
    return random_.Chance(0.02) ? "soon"
                                : absl::StrCat(random_.Between(5, 40), "s");
  }

  std::string AnyRate() { return absl::StrCat(random_.Between(1, 500), "/s"); }

  void DrawSubject() {
    ExperimentSubject& subject = *experiment().mutable_subject();
    if (random_.Chance(0.5)) subject.set_rpc(AnyRpc());
    if (random_.Chance(0.3)) subject.add_services(AnyService());
    if (random_.Chance(0.5)) subject.set_objective("p99<=20ms");
    if (random_.Chance(0.4)) subject.add_loads(AnyRate());
    if (random_.Chance(0.2)) {
      subject.add_loads(absl::StrCat(random_.Between(1, 200), "%"));
      if (random_.Chance(0.5)) subject.set_capacity(AnyRate());
    }
  }

  void DrawAntagonist() {
    Antagonist& antagonist = *experiment().add_antagonists();
    antagonist.set_name(absl::StrCat("hog", experiment().antagonists_size()));
    const bool is_incast = random_.Chance(0.3);
    antagonist.set_activity(is_incast ? "incast" : kActivity);
    if (is_incast) {
      antagonist.set_message_size(absl::StrCat(random_.Between(0, 100), "KiB"));
      antagonist.set_senders(static_cast<int32_t>(random_.Between(1, 3)));
    }
    if (random_.Chance(0.4)) {
      antagonist.set_instances(static_cast<int32_t>(random_.Between(1, 3)));
    }
    if (random_.Chance(0.4)) {
      antagonist.set_threads(static_cast<int32_t>(random_.Between(1, 4)));
    }
    if (random_.Chance(0.3)) antagonist.set_rate(AnyRate());
    if (random_.Chance(0.2)) antagonist.set_ramp("4s");
    if (random_.Chance(0.3)) antagonist.add_placed_with(AnyService());
  }

  void DrawControls() {
    ControlSet& controls = *experiment().add_controls();
    controls.set_name(absl::StrCat("set", experiment().controls_size()));
    if (random_.Chance(0.3)) controls.set_strict(random_.Chance(0.5));
    if (random_.Chance(0.3)) return;
    ControlGroup& group = *controls.add_groups();
    group.add_services(random_.Chance(0.5) ? "antagonist_*" : AnyService());
    group.set_cpu_weight(static_cast<int32_t>(random_.Between(1, 10'000)));
  }

  void DrawPhases() {
    ExperimentPhases& phases = *experiment().mutable_phases();
    if (random_.Chance(0.5)) phases.set_stabilise(AnyDuration());
    if (random_.Chance(0.3)) phases.set_flat_over("5s");
    if (random_.Chance(0.3)) phases.set_flat_within_percent(1);
    if (random_.Chance(0.5)) phases.set_baseline(AnyDuration());
    if (random_.Chance(0.5)) phases.set_interfere(AnyDuration());
    if (random_.Chance(0.5)) phases.set_recover(AnyDuration());
  }

  fuzzing::RandomSource& random_;
  DistributedSystemDescription& test_;
};

}  // namespace

void DrawExperiment(fuzzing::RandomSource& random,
                    DistributedSystemDescription& test) {
  ExperimentDraw(random, test).Draw();
}

}  // namespace distbench::protection
