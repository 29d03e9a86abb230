// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parses CONFIG arguments of the command line, such as
// "clique:{grpc,tcp}:ipv4:node_count=4,8:extra_test_contents=<FILE".

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

// Names of the settings that bare words set.
inline constexpr char kPatternSetting[] = "traffic_pattern";
inline constexpr char kProtocolSetting[] = "protocol_driver";
inline constexpr char kIpVersionSetting[] = "ip_version";

struct Setting {
  std::string name;
  std::string value;

  // The value came from a file, so a ',' in it does not separate values.
  bool from_file = false;
};

// Returns the settings in the order in which they were written; a name may
// appear several times. Reads the files of key=<file, relative to the working
// directory, and strips trailing line ends. The error lists every invalid part,
// one per line.
absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view config);

// One combination of values, chosen from settings that may be lists.
struct SettingsVariant {
  ValueMap settings;

  // Parameters that differ between variants: the protocol, then the others in
  // the order in which they were written.
  std::vector<std::string> varied;
};

// Each of the variants with each of the values, which all of the names get.
std::vector<SettingsVariant> Multiply(
    const std::vector<SettingsVariant>& variants,
    const std::vector<std::string>& names,
    const std::vector<std::string>& values);

// Returns one variant per combination of the values of "name=value,value".
// Protocols vary slowest, and the last list fastest. If a setting is repeated,
// the last one counts. Only parameters of the pattern, the protocol and every
// test may be lists, and only if they are not free text; elsewhere a ',' is an
// ordinary character. The error says which list is wrong, or that the pattern
// or protocol is unknown.
absl::StatusOr<std::vector<SettingsVariant>> ExpandValueLists(
    absl::Span<const Setting> settings);

// ---- What a config may name -------------------------------------------------

// The parameters that a test may have: those of its pattern, of its protocol,
// and of every test.
class Vocabulary {
 public:
  // The vocabulary for the pattern and the protocol in `settings`; the protocol
  // defaults to gRPC. The error lists the choices.
  static absl::StatusOr<Vocabulary> For(const ValueMap& settings);

  const Pattern& pattern() const { return *pattern_; }
  const Protocol& protocol() const { return *protocol_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Returns null if `name` is not among parameters().
  const Parameter* Find(absl::string_view name) const {
    return FindByName(parameters_, name);
  }

  // The parameter that an unknown name probably means: one within two typing
  // errors, as config::EditDistance() counts them.
  std::optional<std::string> MeantBy(absl::string_view name) const;

 private:
  Vocabulary(const Pattern& pattern, const Protocol& protocol);

  const Pattern* pattern_;
  const Protocol* protocol_;
  std::vector<Parameter> parameters_;
};

// Whether test_builder itself sets `name`, from other values.
bool IsDerived(absl::string_view name);

// The patterns and protocols that have a parameter with this name, such as
// "clique, rectangular"; empty if there are none.
std::string WhereKnown(absl::string_view name);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_
