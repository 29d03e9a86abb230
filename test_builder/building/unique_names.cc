#include "test_builder/building/unique_names.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/message_differencer.h"
#include "test_builder/building/test_factory.h"

namespace distbench::test_builder {
namespace {

constexpr char kLabel[] = "config_label";

// Parameters that have several values among the tests.
std::set<std::string> Distinguishing(const std::vector<NamedTest*>& tests) {
  std::map<std::string, std::set<std::string>> values;
  for (const NamedTest* test : tests) {
    for (const auto& [name, value] : test->varied) values[name].insert(value);
  }
  std::set<std::string> names;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1) names.insert(name);
  }
  return names;
}

void TellApart(const std::vector<NamedTest*>& tests) {
  const std::set<std::string> names = Distinguishing(tests);
  for (NamedTest* test : tests) {
    std::string name = test->test.name();
    for (const auto& [parameter, value] : test->varied) {
      if (names.count(parameter) > 0) {
        absl::StrAppend(&name, "-", parameter, "_", value);
      }
    }
    SetTestName(name, test->test);
  }
}

DistributedSystemDescription WithoutLabel(DistributedSystemDescription test) {
  test.mutable_attributes()->erase(kLabel);
  return test;
}

std::string LabelOf(const DistributedSystemDescription& test) {
  return test.attributes().at(kLabel);
}

absl::Status SharedNameError(const DistributedSystemDescription& a,
                             const DistributedSystemDescription& b) {
  std::set<std::string> differing;
  for (const auto* pair : {&a, &b}) {
    const auto& others = (pair == &a ? b : a).attributes();
    for (const auto& [name, value] : pair->attributes()) {
      const auto other = others.find(name);
      if (name != kLabel && (other == others.end() || other->second != value)) {
        differing.insert(name);
      }
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      LabelOf(a), " and ", LabelOf(b), ": both tests would be named ", a.name(),
      ", but they differ",
      differing.empty() ? ""
                        : absl::StrCat(" in ", absl::StrJoin(differing, ", ")),
      "; build them one by one, each with a label (-l) or directory of its "
      "own"));
}

}  // namespace

absl::StatusOr<std::vector<DistributedSystemDescription>> GiveOwnNames(
    std::vector<NamedTest> tests, Notes& notes) {
  std::map<std::string, std::vector<NamedTest*>> by_name;
  for (NamedTest& test : tests) by_name[test.test.name()].push_back(&test);
  for (const auto& [name, sharers] : by_name) {
    if (sharers.size() > 1) TellApart(sharers);
  }

  std::vector<DistributedSystemDescription> named;
  std::map<std::string, size_t> index;
  for (NamedTest& test : tests) {
    const auto [same, is_new] = index.emplace(test.test.name(), named.size());
    if (is_new) {
      named.push_back(std::move(test.test));
    } else if (EqualButForLabels(named[same->second], test.test)) {
      notes.Add(absl::StrCat(LabelOf(test.test), " makes the same test as ",
                             LabelOf(named[same->second]),
                             "; it is kept once"));
    } else {
      return SharedNameError(named[same->second], test.test);
    }
  }
  return named;
}

bool EqualButForLabels(const DistributedSystemDescription& a,
                       const DistributedSystemDescription& b) {
  return google::protobuf::util::MessageDifferencer::Equals(WithoutLabel(a),
                                                            WithoutLabel(b));
}

}  // namespace distbench::test_builder
