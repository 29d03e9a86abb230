// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a product adds to the rules of the traffic language: what holds between
// the fields that are its own, and others. The rules of single fields are their
// options (proto/rules.proto), which the core checks if there is a part of the
// product.

#ifndef DISTBENCH_CONFIG_VALIDATE_LANGUAGE_PART_H_
#define DISTBENCH_CONFIG_VALIDATE_LANGUAGE_PART_H_

#include <set>
#include <string>

#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/test_validation.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

class FileReader;

// Registered as a base::Plugin<LanguagePart>, by the name of its product.
class LanguagePart {
 public:
  virtual ~LanguagePart() = default;

  // Adds a problem for each rule that the canonical test breaks. Like the
  // core's own checks (validators.h), it ignores what others report, and never
  // fails on what others reject.
  virtual void Validate(const TestValidation& /*validation*/) const {}

  // Checks an objective whose metric only the product measures, at `path`;
  // false if the metric is not its own. `is_of_search`: among those of the
  // test's search rather than of all its runs.
  virtual bool CheckObjective(const TestValidation& /*validation*/,
                              const Path& /*path*/,
                              const Objective& /*objective*/,
                              bool /*is_of_search*/) const {
    return false;
  }

  // Puts the contents of the files that the product's fields name into the
  // fields beside the names; `path` is the test's. Nothing else is checked yet.
  virtual void ReadFiles(const Path& /*path*/,
                         DistributedSystemDescription& /*test*/,
                         FileReader& /*files*/) const {}

  // Replaces what may be secret in the product's fields. Everything that is
  // kept or hashed goes through this.
  virtual void RedactSecrets(DistributedSystemDescription& /*test*/) const {}

  // Adds warnings about a valid test, which is at `path`.
  virtual void Warn(const DistributedSystemDescription& /*test*/,
                    const Path& /*path*/, Problems& /*warnings*/) const {}

  // Adds the names of the test's activities that the product's fields use.
  virtual void AddUsedActivities(const DistributedSystemDescription& /*test*/,
                                 std::set<std::string>& /*names*/) const {}
};

// For products that have objectives of their own: adds a problem at `path` if
// `text` is no objective that the test can be judged by. `is_of_search`: rather
// than of all runs of the test.
void CheckObjective(const TestValidation& validation, const Path& path,
                    const std::string& text, bool is_of_search);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_LANGUAGE_PART_H_
