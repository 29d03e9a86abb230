// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_REPORT_MEASUREMENTS_NETWORK_READINGS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_NETWORK_READINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Connections of a service's instances whose sockets had the same settings when
// they were made.
struct ServiceConnections {
  std::string service;

  // With `accepted` and `settings`; connection_count is over all instances.
  NetworkSettingProof connections;

  // Of all settings: the connections that the service accepted, or made.
  int64_t total_count = 0;

  // Whether a setting is not what the traffic config leads to.
  bool differs = false;
};

// Returns what was read back from the sockets of data connections, by service
// and side; the larger number of connections first. Empty if no config asks for
// network settings.
std::vector<ServiceConnections> FoldNetworkSettings(const TestResult& result);

// Returns, for example, "all 24 connections that client made: dscp 10,
// send_buffer_bytes 425984, mptcp fell back to TCP (asked: on)".
std::string Describe(const ServiceConnections& folded);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_NETWORK_READINGS_H_
