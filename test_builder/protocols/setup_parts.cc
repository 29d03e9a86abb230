#include "test_builder/protocols/setup_parts.h"

#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

void SetText(const ParameterValues& values, absl::string_view name,
             NamedSetting& setting) {
  setting.set_name(std::string(name));
  setting.set_string_value(values.Text(name));
}

void SetInteger(const ParameterValues& values, absl::string_view name,
                NamedSetting& setting) {
  setting.set_name(std::string(name));
  setting.set_int64_value(values.Integer(name));
}

}  // namespace

void AddServerText(const ParameterValues& values, absl::string_view name,
                   ProtocolDriverOptions& options) {
  SetText(values, name, *options.add_server_settings());
}

void AddServerInteger(const ParameterValues& values, absl::string_view name,
                      ProtocolDriverOptions& options) {
  SetInteger(values, name, *options.add_server_settings());
}

void AddClientInteger(const ParameterValues& values, absl::string_view name,
                      ProtocolDriverOptions& options) {
  SetInteger(values, name, *options.add_client_settings());
}

void AddClientText(const ParameterValues& values, absl::string_view name,
                   ProtocolDriverOptions& options) {
  SetText(values, name, *options.add_client_settings());
}

std::vector<Parameter> ThreadPoolParameters() {
  return {WordParameter("threadpool_type", "",
                        "Pool of handler threads: elastic, simple, null or "
                        "mercury. Default: the driver's choice."),
          IntegerParameter("threadpool_size", "0", {0},
                           "Handler threads; 0: the driver's choice.")};
}

void AddThreadPool(const ParameterValues& values,
                   ProtocolDriverOptions& options) {
  if (values.Has("threadpool_type")) {
    AddServerText(values, "threadpool_type", options);
  }
  if (values.Integer("threadpool_size") > 0) {
    AddServerInteger(values, "threadpool_size", options);
  }
}

std::string ThreadPoolTypeSuffix(const ParameterValues& values) {
  if (!values.Has("threadpool_type")) return "";
  return absl::StrCat("_", values.Text("threadpool_type"));
}

std::string ThreadPoolSizeSuffix(const ParameterValues& values) {
  if (values.Integer("threadpool_size") == 0) return "";
  return absl::StrCat("_", values.Text("threadpool_size"));
}

std::string IpVersionSuffix(const ParameterValues& values) {
  if (!values.Has("ip_version")) return "";
  return absl::StrCat("_ipv", values.Text("ip_version"));
}

}  // namespace distbench
