// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tables of broken configs for validation tests. Each case is a small edit of a
// valid config, and the one problem that it causes.

#ifndef DISTBENCH_CONFIG_TESTING_VALIDATION_CASES_H_
#define DISTBENCH_CONFIG_TESTING_VALIDATION_CASES_H_

#include <ostream>
#include <string>
#include <vector>

#include "distbench/config/problems/problem.h"

namespace distbench::config {

struct ValidationCase {
  const char* rule;      // becomes part of the test's name
  const char* old_text;  // appears once in the base config; empty: its end
  const char* new_text;
  const char* path;     // within tests[0]
  const char* message;  // part of the problem's message
};

// A config of one valid test.
const std::string& BaseConfig();

// The problems of BaseConfig() with old_text replaced by new_text.
std::vector<Problem> ProblemsAfter(const std::string& old_text,
                                   const std::string& new_text);

// Expects the case's problem, and no other.
void ExpectOneProblem(const ValidationCase& broken);

// Names the case in messages of parameterised tests.
std::ostream& operator<<(std::ostream& out, const ValidationCase& broken);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_TESTING_VALIDATION_CASES_H_
