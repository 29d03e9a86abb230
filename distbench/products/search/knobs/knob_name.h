// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Names of knobs: the parameter that a load search varies.

#ifndef DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_NAME_H_
#define DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_NAME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

struct KnobName {
  enum class Kind {
    kRate,         // rate: all open loops
    kConcurrency,  // concurrency[:ACTION]: iterations in flight
    kPayload,      // payload:NAME: the size of a payload description
    kFanout,       // fanout:RPC: the n of stochastic{p:n}
    kControl,      // control:SET:SETTING: of a group of the experiment's set
    kBuilder,      // builder:CONFIG:PARAMETER: test_builder's
  };
  Kind kind = Kind::kRate;

  // The action (empty: all closed loops of main lists), payload, RPC, setting
  // or parameter.
  std::string target;

  // kControl only: the name of a set of controls.
  std::string control_set;

  // kBuilder only: a config string, as on test_builder's command line.
  std::string config;
};

// Parses a knob. INVALID_ARGUMENT says what is wrong and lists the knobs.
absl::StatusOr<KnobName> ParseKnobName(absl::string_view text);

// Checks that the canonical test has what the knob varies. Always OK for
// kBuilder, which generates its own tests. INVALID_ARGUMENT says what is
// missing and what there is.
absl::Status CheckKnob(const KnobName& knob,
                       const DistributedSystemDescription& test);

// The knobs that CheckKnob() allows for the canonical test, as ParseKnobName()
// takes them.
std::vector<std::string> KnobsOf(const DistributedSystemDescription& test);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_NAME_H_
