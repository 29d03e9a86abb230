// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Versions of the protocols between processes of distbench, which may be of
// different builds: a cluster is upgraded host by host, and an engine may be
// another program. A version changes when an older process would misunderstand
// a newer one, not when a field is added that both can do without; fields of a
// test that a process does not know are refused by that process
// (config/reading/unknown_fields.h).

#ifndef DISTBENCH_BASE_PROTOCOL_VERSIONS_H_
#define DISTBENCH_BASE_PROTOCOL_VERSIONS_H_

namespace distbench::base {

// Between sequencer and nodes: proto/control.proto.
inline constexpr int kControlProtocol = 1;

// Between a node manager and its engines: hosting/engine_control.proto.
inline constexpr int kEngineProtocol = 1;

// Whether a process that speaks `own` works with one that speaks `other`: the
// same version, the one before or the one after. 0 is a process that says no
// version.
constexpr bool WorkTogether(int own, int other) {
  return other > 0 && other >= own - 1 && other <= own + 1;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_PROTOCOL_VERSIONS_H_
