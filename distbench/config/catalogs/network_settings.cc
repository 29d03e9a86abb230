#include "distbench/config/catalogs/network_settings.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::config {
namespace {

SettingDeclaration Switch(const char* name, const char* default_value,
                          const std::string& description) {
  return {
      .name = name,
      .description = description,
      .default_value = default_value,
      .allowed_values = {kOn, kOff},
  };
}

SettingDeclaration Ecn() {
  return {
      .name = kEcn,
      .description =
          "\"require\" refuses connections for which ECN was not negotiated. A "
          "socket cannot ask for ECN; the host's net.ipv4.tcp_ecn does.",
      .default_value = "any",
      .allowed_values = {"any", kRequired},
  };
}

std::vector<SettingDeclaration> OfBothSides() {
  return {
      {
          .name = kCongestionControl,
          .description = "TCP's congestion control, one that the host permits. "
                         "Empty: the host's.",
          .default_value = "",
      },
      LimitedSetting(
          kDscp,
          "The DSCP of the packets that this side sends; -1: the host's."),
      LimitedSetting(
          kSendBufferBytes,
          "The socket's send buffer (SO_SNDBUF), of which the kernel makes "
          "twice as much. 0: the kernel adjusts it."),
      LimitedSetting(
          kReceiveBufferBytes,
          "The socket's receive buffer (SO_RCVBUF), of which the kernel "
          "makes twice as much. 0: the kernel adjusts it."),
      Switch(kNoDelay, kOn,
             "\"off\" lets small writes wait for acknowledgements (Nagle's "
             "algorithm)."),
      LimitedSetting(
          kBusyPollUs,
          "How long the kernel polls the network device before a read finds "
          "nothing, in microseconds; -1: the host's."),
      Switch(kMptcp, kOff,
             "\"on\" makes connections of Multipath TCP, if both sides do."),
      LimitedSetting(
          kMaxPacingRate,
          "The most that a connection sends in a second; 0: no limit."),
  };
}

}  // namespace

SettingsDeclaration WithNetworkSettings(SettingsDeclaration declaration,
                                        NetworkSide side) {
  for (SettingDeclaration& setting : OfBothSides()) {
    declaration.settings.push_back(std::move(setting));
  }
  if (side == NetworkSide::kClient) declaration.settings.push_back(Ecn());
  return declaration;
}

SettingDeclaration ZeroCopySetting() {
  return Switch(kZeroCopy, kOff,
                "\"on\" sends payloads of 16 KiB and more without copying them "
                "(MSG_ZEROCOPY), where the network device can.");
}

std::map<std::string, std::string> NetworkSettingsOfOthers(
    const std::string& reason) {
  std::map<std::string, std::string> refused;
  for (const SettingDeclaration& setting : OfBothSides()) {
    refused[setting.name] = absl::StrCat(
        reason, "; use the driver \"http2\", \"tcp\" or \"thrift\"");
  }
  refused[kEcn] = refused[kDscp.name];
  refused[kZeroCopy] = absl::StrCat(reason, "; use the driver \"tcp\"");
  return refused;
}

bool NeedsNetwork(absl::string_view setting) {
  if (setting == kSendBufferBytes.name) return false;
  return setting == kEcn || setting == kZeroCopy ||
         absl::c_any_of(OfBothSides(), [&](const SettingDeclaration& one) {
           return one.name == setting;
         });
}

}  // namespace distbench::config
