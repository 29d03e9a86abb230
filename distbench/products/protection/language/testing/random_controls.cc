#include "distbench/products/protection/language/testing/random_controls.h"

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

}  // namespace distbench::protection
