#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/named.h"
#include "distbench/base/plugins.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

using Sides = SettingParameter::Sides;

constexpr char kPoolSize[] = "threadpool_size";
constexpr char kMercuryTransport[] = "ofi+tcp";

std::vector<SettingParameter> ThreadPoolSettings() {
  return {{WordParameter("threadpool_type", "",
                         "Pool of handler threads: elastic, simple, null or "
                         "mercury. Default: the driver's choice."),
           Sides::kServer},
          {IntegerParameter(kPoolSize, "0", {0},
                            "Handler threads; 0: the driver's choice."),
           Sides::kServer}};
}

// Adds those that are given to the settings and, as "_TYPE_SIZE", to the alias.
void AddThreadPool(const ParameterValues& values, ProtocolSetup& setup) {
  for (const SettingParameter& setting : ThreadPoolSettings()) {
    const std::string& name = setting.parameter.name;
    if (!values.Has(name)) continue;
    if (name == kPoolSize && values.Integer(name) == 0) continue;
    AddSetting(values, setting, setup.options);
    absl::StrAppend(&setup.alias, "_", values.Text(name));
  }
}

std::vector<SettingParameter> GrpcThreading() {
  return {{ChoiceParameter("client_type", "polling", {"polling", "callback"},
                           "How the client waits for responses: on its "
                           "completion queue, or by gRPC's callbacks."),
           Sides::kClient},
          {ChoiceParameter("server_type", "inline",
                           {"inline", "handoff", "polling"},
                           "Where handlers run: in the thread that received "
                           "the request, or in a pool behind gRPC's callbacks "
                           "(handoff) or behind its completion queue "
                           "(polling)."),
           Sides::kServer}};
}

std::vector<SettingParameter> GrpcConnections() {
  return {
      TransportSetting("What carries gRPC: tcp, unix or homa. Default: tcp."),
      {IntegerParameter("channels", "", {1},
                        "Connections from each worker of a client to each "
                        "server, used in turn. Default: 1."),
       Sides::kClient, "chan"},
      CallsPerConnectionSetting("Calls after which a channel is replaced, with "
                                "its connection; 0 is never. Default: 0."),
      SpinSetting()};
}

ProtocolSetup SetUpGrpc(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias =
      absl::StrCat("grpc_", values.Text("client_type"), "_",
                   values.Text("server_type"), IpVersionSuffix(values));
  for (const SettingParameter& setting : GrpcThreading()) {
    AddSetting(values, setting, setup.options);
  }
  // Inline handlers run in the driver's threads, so there is no pool.
  if (values.Text("server_type") != "inline") AddThreadPool(values, setup);
  AddSettings(values, GrpcConnections(), setup);
  return setup;
}

Protocol GrpcProtocol() {
  return {.name = "grpc",
          .summary = "gRPC over TCP; used where no driver is named",
          .parameters = Joined({ParametersOf(GrpcThreading()),
                                ParametersOf(ThreadPoolSettings()),
                                ParametersOf(GrpcConnections())}),
          .build = &SetUpGrpc};
}

Protocol GrpcStreamProtocol() {
  return PlainProtocol(
      "grpc_stream", "messages on long-lived gRPC streams",
      {TransportSetting("What carries gRPC: tcp or unix. Default: tcp."),
       {IntegerParameter("streams", "", {1},
                         "Streams from each worker of a client to each "
                         "server, used in turn. Default: 1."),
        Sides::kClient, "streams"},
       {IntegerParameter("messages_per_stream", "", {0},
                         "Requests after which a stream is replaced; 0 is "
                         "never. Default: 0."),
        Sides::kClient, "messages"},
       {IntegerParameter("send_queue_messages", "", {1},
                         "Requests that may wait to be sent on a stream. "
                         "Default: 1024."),
        Sides::kClient, "queue"},
       SpinSetting()});
}

Protocol TcpProtocol() {
  return PlainProtocol(
      "tcp", "messages over plain TCP connections",
      SettingsOverConnections(
          "the messages",
          {{IntegerParameter("max_batch", "", {1},
                             "Requests or replies, at most, that "
                             "share a write. Default: 64."),
            Sides::kBoth, "batch"},
           SpinSetting()}));
}

Protocol LoopbackProtocol() {
  return PlainProtocol("loopback",
                       "within one process, to measure distbench itself", {});
}

std::vector<SettingParameter> HomaSettings() {
  return {{IntegerParameter("client_threads", "1", {1},
                            "Threads that receive responses."),
           Sides::kServer},
          {IntegerParameter("server_threads", "1", {1},
                            "Threads that receive requests."),
           Sides::kServer},
          {IntegerParameter("nocopy", "1", {0, 1},
                            "1: payloads are not copied out of the receive "
                            "buffer."),
           Sides::kServer},
          {IntegerParameter("ping_pong", "0", {0, 1},
                            "1: requests are answered as they came, without a "
                            "handler."),
           Sides::kServer}};
}

ProtocolSetup SetUpHoma(const ParameterValues& values) {
  ProtocolSetup setup;
  for (const SettingParameter& setting : HomaSettings()) {
    AddSetting(values, setting, setup.options);
  }
  AddThreadPool(values, setup);
  // The size is in the name even where the driver chooses it.
  const std::string& pool_type = values.Text("threadpool_type");
  setup.alias = absl::StrCat(
      "homa",
      values.Text("ping_pong") == "1" ? "_pingpong"
      : values.Text("nocopy") == "1"  ? "_nocopy"
                                      : "",
      IpVersionSuffix(values), "_", values.Text("server_threads"), "x",
      values.Text("client_threads"), "x", values.Text(kPoolSize),
      pool_type.empty() ? "" : "_", pool_type);
  return setup;
}

Protocol HomaProtocol() {
  return {.name = "homa",
          .summary = "the Homa transport of a kernel that has it",
          .parameters = Joined({ParametersOf(HomaSettings()),
                                ParametersOf(ThreadPoolSettings())}),
          .build = &SetUpHoma};
}

ProtocolSetup SetUpMercury(const ParameterValues& values) {
  const std::string& transport = values.Text("transport");
  ProtocolSetup setup;
  setup.alias = absl::StrCat("mercury_", transport, IpVersionSuffix(values));
  NamedSetting& init = *setup.options.add_server_settings();
  init.set_name("hg_init_info_string");
  // Users' transports are passed on as they are; the default is the driver's,
  // which replaces the placeholder by its own address.
  init.set_string_value(transport == kMercuryTransport
                            ? absl::StrCat(transport, "://__SERVER_IP__")
                            : transport);
  AddThreadPool(values, setup);
  return setup;
}

Protocol MercuryProtocol() {
  return {
      .name = "mercury",
      .summary = "the Mercury RPC framework, over IPv4",
      .parameters =
          Joined({{WordParameter(
                      "transport", kMercuryTransport,
                      "Mercury's plugin and protocol, passed on as it is.")},
                  ParametersOf(ThreadPoolSettings())}),
      .build = &SetUpMercury,
  };
}

// A driver that hands its RPCs to another one, which `setting` names.
Protocol Decorator(const std::string& name, const std::string& summary,
                   const std::string& setting) {
  const SettingParameter driver = {
      WordParameter(setting, "grpc", "The driver that does the work."),
      Sides::kServer};
  return {.name = name,
          .summary = summary,
          .parameters = {driver.parameter},
          .build = [name, driver](const ParameterValues& values) {
            ProtocolSetup setup;
            setup.alias =
                absl::StrCat(name, "_", values.Text(driver.parameter.name),
                             IpVersionSuffix(values));
            AddSetting(values, driver, setup.options);
            return setup;
          }};
}

// gRPC's first, then tcp and those of products by name.
std::vector<Protocol> MakeProtocols() {
  std::map<std::string, Protocol> by_name = {{"tcp", TcpProtocol()}};
  for (const auto& [name, protocol] : base::Plugins<Protocol>::All()) {
    by_name.emplace(name, *protocol);
  }
  std::vector<Protocol> protocols = {GrpcProtocol(), GrpcStreamProtocol()};
  for (const auto& [name, protocol] : by_name) protocols.push_back(protocol);
  for (const Protocol& protocol :
       {LoopbackProtocol(), HomaProtocol(), MercuryProtocol(),
        Decorator("double_barrel",
                  "another driver with two clients, which take turns",
                  "next_protocol_driver"),
        Decorator("composable_rpc_counter",
                  "another driver, with its RPCs counted",
                  "driver_under_test")}) {
    protocols.push_back(protocol);
  }
  return protocols;
}

}  // namespace

const std::vector<Protocol>& AllProtocols() {
  static const auto& protocols = *new std::vector<Protocol>(MakeProtocols());
  return protocols;
}

std::vector<std::string> ProtocolNames() {
  return base::NamesOf(AllProtocols());
}

const Protocol* FindProtocol(absl::string_view name) {
  return base::FindNamed(AllProtocols(), name);
}

// ---- Building blocks of setups ----------------------------------------------

namespace {

SettingParameter ConnectionsSetting() {
  return {IntegerParameter("connections", "", {1},
                           "Connections from each worker of a client to each "
                           "server. Default: 1."),
          SettingParameter::Sides::kClient, "conn"};
}

std::vector<SettingParameter> SettingsOfNetwork() {
  return {{WordParameter("congestion_control", "",
                         "TCP's congestion control, on both sides. Default: "
                         "the hosts'."),
           SettingParameter::Sides::kBoth},
          {IntegerParameter("dscp", "", {0, 63},
                            "The DSCP of all packets. Default: the hosts'."),
           SettingParameter::Sides::kBoth, "dscp"}};
}

}  // namespace

void AddSetting(const ParameterValues& values, const SettingParameter& setting,
                ProtocolDriverOptions& options) {
  using Sides = SettingParameter::Sides;
  const Parameter& parameter = setting.parameter;
  NamedSetting added;
  added.set_name(parameter.name);
  if (parameter.type == Parameter::Type::kInteger) {
    added.set_int64_value(values.Integer(parameter.name));
  } else {
    added.set_string_value(values.Text(parameter.name));
  }
  if (setting.sides != Sides::kServer) *options.add_client_settings() = added;
  if (setting.sides != Sides::kClient) *options.add_server_settings() = added;
}

void AddSettings(const ParameterValues& values,
                 absl::Span<const SettingParameter> settings,
                 ProtocolSetup& setup) {
  for (const SettingParameter& setting : settings) {
    if (!values.Has(setting.parameter.name)) continue;
    // Names of libfabric's layered providers contain a semicolon.
    absl::StrAppend(
        &setup.alias, "_", setting.word,
        absl::StrReplaceAll(values.Text(setting.parameter.name), {{";", "_"}}));
    AddSetting(values, setting, setup.options);
  }
}

std::vector<Parameter> ParametersOf(
    absl::Span<const SettingParameter> settings) {
  std::vector<Parameter> parameters;
  for (const SettingParameter& setting : settings) {
    parameters.push_back(setting.parameter);
  }
  return parameters;
}

Protocol PlainProtocol(const std::string& name, const std::string& summary,
                       const std::vector<SettingParameter>& settings) {
  return {.name = name,
          .summary = summary,
          .parameters = ParametersOf(settings),
          .build = [name, settings](const ParameterValues& values) {
            ProtocolSetup setup;
            setup.alias = absl::StrCat(name, IpVersionSuffix(values));
            AddSettings(values, settings, setup);
            return setup;
          }};
}

std::vector<SettingParameter> SettingsOverConnections(
    absl::string_view what, const std::vector<SettingParameter>& own) {
  std::vector<SettingParameter> settings = {
      TransportSetting(
          absl::StrCat("What carries ", what, ": tcp or unix. Default: tcp.")),
      ConnectionsSetting(),
      CallsPerConnectionSetting("Calls after which a connection is replaced; 0 "
                                "is never. Default: 0.")};
  for (const auto& more : {own, SettingsOfNetwork()}) {
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

SettingParameter TransportSetting(absl::string_view meaning) {
  return {WordParameter("transport", "", meaning),
          SettingParameter::Sides::kServer};
}

SettingParameter CallsPerConnectionSetting(absl::string_view meaning) {
  return {IntegerParameter("calls_per_connection", "", {0}, meaning),
          SettingParameter::Sides::kClient, "calls"};
}

SettingParameter SpinSetting() {
  return {IntegerParameter("spin_us", "", {0},
                           "Microseconds that a worker with nothing to do "
                           "polls before it sleeps. Default: 50 if there "
                           "are CPUs to spare, else 0."),
          SettingParameter::Sides::kServer, "spin"};
}

std::string IpVersionSuffix(const ParameterValues& values) {
  if (!values.Has("ip_version")) return "";
  return absl::StrCat("_ipv", values.Text("ip_version"));
}

}  // namespace distbench::test_builder
