// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parts that products add to the core by being linked into the program.
//
// A room of the core that lets products take part in its work declares an
// interface, and asks all parts that there are:
//
//   // distbench/report/findings/finding_rule.h
//   class FindingRule {
//    public:
//     virtual ~FindingRule() = default;
//     virtual void Judge(const TestResult& result, FindingList& findings)
//         const = 0;
//   };
//
//   for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
//     rule->Judge(result, findings);
//   }
//
// A product adds its part in its plugin.cc, whose library is `alwayslink` and
// is listed in distbench/products/BUILD, the one list of what is linked:
//
//   const base::Plugin<report::FindingRule> kRule("simulation",
//                                                 new SimulationRule);
//
// Parts are added before main(), and stay for the life of the process. They are
// called on any thread, so what they do is const. The order is that of their
// names, whatever the order of linking.

#ifndef DISTBENCH_BASE_PLUGINS_H_
#define DISTBENCH_BASE_PLUGINS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "glog/logging.h"

namespace distbench::base {

template <typename Interface>
class Plugins {
 public:
  using Parts = std::map<std::string, const Interface*, std::less<>>;

  // All parts, by name.
  static const Parts& All() { return parts(); }

  // The part of that name; null if there is none.
  static const Interface* Find(absl::string_view name) {
    const auto found = parts().find(std::string(name));
    return found == parts().end() ? nullptr : found->second;
  }

  // Before main() only; names are unique per interface.
  static void Add(absl::string_view name, const Interface* part) {
    const bool is_new = parts().emplace(std::string(name), part).second;
    CHECK(is_new) << "two plug-ins are called \"" << name << "\"";
  }

 private:
  // Never destroyed, because threads may outlive main().
  static Parts& parts() {
    static auto* const parts = new Parts;
    return *parts;
  }
};

// Adds a part, which it takes over, when it is initialised.
template <typename Interface>
class Plugin {
 public:
  Plugin(absl::string_view name, const Interface* part) {
    Plugins<Interface>::Add(name, part);
  }

  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
};

// A product that is linked into this program, under its name.
struct Product {
  // What it is for, as in the table of docs/architecture.md.
  absl::string_view summary;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_PLUGINS_H_
