// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which tests a program runs: a product whose tests reach beyond their own
// hosts lets the operators of the sequencer and of the nodes decide.

#ifndef DISTBENCH_SECURITY_TEST_GUARDS_H_
#define DISTBENCH_SECURITY_TEST_GUARDS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::security {

// What each instance of a test may do at most, by a key that only the guard
// knows that gave the limit. They travel unread from the sequencer to the
// engines (PrepareTest.target_rates).
using InstanceLimits = std::map<std::string, double>;

// What a guard has to say of a test that begins.
struct TestLimits {
  InstanceLimits limits;

  // For the result: what the limits were made of.
  std::vector<Finding> findings;
};

// Decides by what one operator allows. Immutable.
class TestGuard {
 public:
  virtual ~TestGuard() = default;

  // Whether `program`, such as "test sequencer", may run a valid test.
  // PERMISSION_DENIED says what it does not allow, and how it would.
  virtual absl::Status Check(const DistributedSystemDescription& test,
                             absl::string_view program) const = 0;

  // On the sequencer, when a test begins that passes Check(): the limits of
  // each instance. May block, to look names up. PERMISSION_DENIED if the test
  // turns out to be something that is not allowed; any error ends the test.
  virtual absl::StatusOr<TestLimits> LimitsOf(
      const DistributedSystemDescription& test) const = 0;

  // On a node: whether `instances` of a test that passes Check() do no more
  // than the node allows if each goes to its limits. PERMISSION_DENIED says
  // what exceeds what.
  virtual absl::Status CheckLimits(const DistributedSystemDescription& test,
                                   const std::vector<std::string>& instances,
                                   const InstanceLimits& limits) const = 0;
};

// A flag of the programs that run tests, by which operators say what they
// allow. Registered as a base::Plugin<GuardFlag>, by the name of its product.
class GuardFlag {
 public:
  virtual ~GuardFlag() = default;

  // Such as "--allow_target"; the type and the description are as in the help.
  // It may be repeated, and commas separate its values.
  virtual std::string flag() const = 0;
  virtual std::string type() const = 0;
  virtual std::string description() const = 0;

  // Makes the guard for the flag's values, of which there may be none. The
  // error names the value that is wrong.
  virtual absl::StatusOr<std::shared_ptr<const TestGuard>> MakeGuard(
      const std::vector<std::string>& values) const = 0;
};

// The values of each flag, as an operator gave them.
using GuardFlagValues = std::map<std::string, std::vector<std::string>>;

// The guards of all products. Immutable.
class TestGuards {
 public:
  // Those of an operator who gave no flag.
  TestGuards();

  // The error is that of the first flag whose values are wrong.
  static absl::StatusOr<TestGuards> Make(const GuardFlagValues& values);

  // The first error of a guard, or what all of them say; see TestGuard.
  absl::Status Check(const DistributedSystemDescription& test,
                     absl::string_view program) const;
  absl::StatusOr<TestLimits> LimitsOf(
      const DistributedSystemDescription& test) const;
  absl::Status CheckLimits(const DistributedSystemDescription& test,
                           const std::vector<std::string>& instances,
                           const InstanceLimits& limits) const;

 private:
  using Guards = std::vector<std::shared_ptr<const TestGuard>>;

  explicit TestGuards(Guards guards);

  Guards guards_;
};

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TEST_GUARDS_H_
