// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The ways in which every driver over TCP connections must work, for the suites
// that every driver must pass.

#ifndef DISTBENCH_PROTOCOL_TCP_TESTING_CONNECTION_VARIANTS_H_
#define DISTBENCH_PROTOCOL_TCP_TESTING_CONNECTION_VARIANTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench::protocol {

struct ConnectionVariant {
  std::string name = {};
  int64_t connections = 1;
  bool uses_tls = false;
  std::string transport = "tcp";
  NetworkSettings network = {};  // of both sides
  int64_t calls_per_connection = 0;
  bool measures_time_parts = false;
  std::map<std::string, config::DriverOptions::Value> settings =
      {};  // of both sides
  config::WireTimeOptions wire_time = {};
};

// Variants for DriverConformanceTest, CallsPerConnectionTest,
// TimePartsConformanceTest and WireTimeConformanceTest.
std::vector<ConnectionVariant> UsualVariants();
std::vector<ConnectionVariant> OneCallVariants();
std::vector<ConnectionVariant> TimedVariants();
std::vector<ConnectionVariant> StampedVariants();

config::DriverOptions OptionsOf(const ConnectionVariant& variant);

// All have the same certificates. `protocol` is TLS's (ALPN).
ConnectionSecurity SecurityOf(const ConnectionVariant& variant,
                              const std::string& test_nonce,
                              const std::string& protocol);

// Drivers of the class Driver, whose settings are read by read_settings().
template <typename Driver, auto read_settings>
std::vector<DriverUnderTest> DriversOf(
    const std::vector<ConnectionVariant>& variants,
    const std::string& protocol = "") {
  std::vector<DriverUnderTest> drivers;
  for (const ConnectionVariant& variant : variants) {
    const auto make = [=](const std::string& test_nonce) {
      auto settings = read_settings(OptionsOf(variant));
      settings.measures_time_parts = variant.measures_time_parts;
      return std::make_unique<Driver>(
          settings, AddressPreference{}, "127.0.0.1",
          SecurityOf(variant, test_nonce, protocol));
    };
    drivers.push_back({.make_for_test = make, .name = variant.name});
  }
  return drivers;
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TESTING_CONNECTION_VARIANTS_H_
