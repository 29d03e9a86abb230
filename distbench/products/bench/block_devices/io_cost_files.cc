#include "distbench/products/bench/block_devices/io_cost_files.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"

namespace distbench::bench {
namespace {

using Settings = std::map<std::string, std::string>;

Settings Split(absl::string_view text) {
  Settings settings;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    settings[pair.first] = pair.second;
  }
  return settings;
}

template <typename Set>
void Integer(const Settings& settings, const char* key, Set set) {
  int64_t value = 0;
  const auto found = settings.find(key);
  if (found != settings.end() && absl::SimpleAtoi(found->second, &value)) {
    set(value);
  }
}

template <typename Set>
void Percent(const Settings& settings, const char* key, Set set) {
  double value = 0;
  const auto found = settings.find(key);
  if (found != settings.end() && absl::SimpleAtod(found->second, &value)) {
    set(value);
  }
}

// What follows the device's number in its line; absent if it has none.
std::optional<std::string> LineOf(const std::string& number,
                                  const std::string& path) {
  const absl::StatusOr<std::string> text = base::ReadFile(path);
  if (!text.ok() || number.empty()) return std::nullopt;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::StartsWith(line, number + " ")) {
      return std::string(line.substr(number.size() + 1));
    }
  }
  return std::nullopt;
}

}  // namespace

IoCostModel ParseIoCostModel(absl::string_view settings) {
  const Settings split = Split(settings);
  IoCostModel model;
  Integer(split, "rbps", [&](int64_t v) { model.set_rbps(v); });
  Integer(split, "rseqiops", [&](int64_t v) { model.set_rseqiops(v); });
  Integer(split, "rrandiops", [&](int64_t v) { model.set_rrandiops(v); });
  Integer(split, "wbps", [&](int64_t v) { model.set_wbps(v); });
  Integer(split, "wseqiops", [&](int64_t v) { model.set_wseqiops(v); });
  Integer(split, "wrandiops", [&](int64_t v) { model.set_wrandiops(v); });
  return model;
}

IoCostQos ParseIoCostQos(absl::string_view settings) {
  const Settings split = Split(settings);
  IoCostQos qos;
  Percent(split, "rpct", [&](double v) { qos.set_rpct(v); });
  Integer(split, "rlat", [&](int64_t v) { qos.set_rlat(v); });
  Percent(split, "wpct", [&](double v) { qos.set_wpct(v); });
  Integer(split, "wlat", [&](int64_t v) { qos.set_wlat(v); });
  Percent(split, "min", [&](double v) { qos.set_min(v); });
  Percent(split, "max", [&](double v) { qos.set_max(v); });
  return qos;
}

std::optional<IoCostSettings> ReadIoCost(const std::string& number,
                                         const std::string& hierarchy) {
  const std::optional<std::string> qos =
      LineOf(number, hierarchy + "/io.cost.qos");
  if (!qos.has_value()) return std::nullopt;
  IoCostSettings settings;
  settings.set_device(number);
  settings.set_enable(Split(*qos)["enable"] == "1");
  *settings.mutable_qos() = ParseIoCostQos(*qos);
  if (const auto model = LineOf(number, hierarchy + "/io.cost.model");
      model.has_value()) {
    *settings.mutable_model() = ParseIoCostModel(*model);
  }
  return settings;
}

std::string ReadModelText(const IoCostModel& model) {
  return absl::StrCat("rbps=", model.rbps(), " rseqiops=", model.rseqiops(),
                      " rrandiops=", model.rrandiops());
}

std::string WriteModelText(const IoCostModel& model) {
  return absl::StrCat("wbps=", model.wbps(), " wseqiops=", model.wseqiops(),
                      " wrandiops=", model.wrandiops());
}

std::string QosText(const IoCostQos& qos) {
  return absl::StrFormat(
      "rpct=%.2f rlat=%d wpct=%.2f wlat=%d min=%.2f max=%.2f", qos.rpct(),
      qos.rlat(), qos.wpct(), qos.wlat(), qos.min(), qos.max());
}

std::string IoCostText(const IoCostModel& model, const IoCostQos& qos,
                       absl::string_view indent) {
  constexpr absl::string_view kModel = "iocost model: ";
  return absl::StrCat(indent, kModel, ReadModelText(model), "\n",  //
                      indent, std::string(kModel.size(), ' '),
                      WriteModelText(model), "\n",  //
                      indent, "iocost QoS: ", QosText(qos), "\n");
}

}  // namespace distbench::bench
