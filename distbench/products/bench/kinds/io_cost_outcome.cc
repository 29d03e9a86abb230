#include "distbench/products/bench/kinds/io_cost_outcome.h"

#include <cmath>
#include <cstdint>

namespace distbench::bench {
namespace {

int64_t WholeOrZero(const BenchValues& values, const char* name) {
  return std::llround(FindNumber(values, name).value_or(0));
}

}  // namespace

void AddIoCost(const IoCostSettings& settings, BenchValues& values) {
  const IoCostModel& model = settings.model();
  const IoCostQos& qos = settings.qos();
  AddText(kIoCostDevice, settings.device(), values);
  AddNumber("rbps", model.rbps(), values);
  AddNumber("rseqiops", model.rseqiops(), values);
  AddNumber("rrandiops", model.rrandiops(), values);
  AddNumber("wbps", model.wbps(), values);
  AddNumber("wseqiops", model.wseqiops(), values);
  AddNumber("wrandiops", model.wrandiops(), values);
  AddNumber("rpct", qos.rpct(), values);
  AddNumber("rlat", qos.rlat(), values);
  AddNumber("wpct", qos.wpct(), values);
  AddNumber("wlat", qos.wlat(), values);
  AddNumber("min", qos.min(), values);
  AddNumber("max", qos.max(), values);
}

IoCostSettings IoCostFrom(const BenchValues& values) {
  IoCostSettings settings;
  settings.set_device(FindText(values, kIoCostDevice));
  settings.set_enable(true);
  IoCostModel& model = *settings.mutable_model();
  model.set_rbps(WholeOrZero(values, "rbps"));
  model.set_rseqiops(WholeOrZero(values, "rseqiops"));
  model.set_rrandiops(WholeOrZero(values, "rrandiops"));
  model.set_wbps(WholeOrZero(values, "wbps"));
  model.set_wseqiops(WholeOrZero(values, "wseqiops"));
  model.set_wrandiops(WholeOrZero(values, "wrandiops"));
  IoCostQos& qos = *settings.mutable_qos();
  qos.set_rpct(FindNumber(values, "rpct").value_or(0));
  qos.set_rlat(WholeOrZero(values, "rlat"));
  qos.set_wpct(FindNumber(values, "wpct").value_or(0));
  qos.set_wlat(WholeOrZero(values, "wlat"));
  qos.set_min(FindNumber(values, "min").value_or(0));
  qos.set_max(FindNumber(values, "max").value_or(0));
  return settings;
}

}  // namespace distbench::bench
