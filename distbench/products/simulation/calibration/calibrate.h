// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What RPCs cost, from the result of a real test
// (workloads/calibration.config):
//
//   small, one in flight       c1 = wake-up + batch + fixed   CPU time per side
//   small, n in flight         cn = s wake-ups + batch / n + fixed
//   large requests, responses  c1 + bytes * ns_per_byte
//   small, workers that poll   both sides' batch + fixed, as a latency (between
//                              hosts: and the time that messages take)
//
// All n RPCs in flight of a closed loop share their batches. s is how often
// threads sleep then, as a multiple of how often they do with one in flight.
// The workers that poll (spin_us) are those of a second test; without it,
// wake-ups count as a part of batches.
//
// At each side, batch and fixed are the sums of sending and receiving, which
// CPU time does not tell apart. Both get half, with the error of a uniform
// distribution between nothing and all of it. Per byte they are told apart: a
// client sends requests and receives responses.
//
// The median latency of small RPCs, less the CPU time of both sides, is the
// time that idle workers need to wake up, two times; between hosts, also the
// time that messages take, for which the fastest RPC stands: that of the driver
// which leaves the least of it, if several were measured. If the latency is
// less than the CPU time and that of the network, the difference is work after
// the messages have left.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_CALIBRATE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_CALIBRATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/results.pb.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// The fabric that the result's tests measured: costs of the driver of each test
// and, of the last one, CPUs and stalls of a host and the delay of links (if
// the nodes were on different hosts). FAILED_PRECONDITION says what the result
// lacks, and how to get it.
absl::StatusOr<SimulatedFabric> Calibrate(const TestSequenceResults& results);

// The same from a file, which is a result or a fabric in text format that was
// kept from one. Errors name the path.
absl::StatusOr<SimulatedFabric> ReadCalibration(const std::string& path);

// Fills in what the fabric leaves open: costs of drivers, and fields of its
// host and its network (if that is not a single switch, only the delay of links
// of hosts).
void AddCalibration(const SimulatedFabric& calibration,
                    SimulatedFabric& fabric);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_CALIBRATE_H_
