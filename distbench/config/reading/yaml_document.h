// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tree of a YAML text, with the place of each node. JSON is YAML, too.

#ifndef DISTBENCH_CONFIG_READING_YAML_DOCUMENT_H_
#define DISTBENCH_CONFIG_READING_YAML_DOCUMENT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/config/reading/places.h"

namespace distbench::config {

struct YamlNode {
  enum class Kind : uint8_t {
    kMissing,  // nothing stands where a value may
    kNull,     // null or ~
    kScalar,
    kList,
    kMap,
  };

  Kind kind = Kind::kMissing;
  bool is_plain = false;   // a scalar that has no quotes and no tag
  bool is_binary = false;  // a scalar whose tag says that it is base64
  Place place;
  std::string text;  // of a scalar

  // The items of a list; the keys of a map, each followed by its value. An
  // alias is the node that it names, so that nodes may have several parents,
  // but never themselves among their descendants.
  std::vector<const YamlNode*> children;
};

// What a node costs whoever visits it, about the bytes of memory that a message
// made of it needs.
int64_t CostOf(const YamlNode& node);

struct YamlDocument {
  const YamlNode* root = nullptr;  // absent if the text has only comments
  int64_t cost = 0;                // of all nodes
  std::deque<YamlNode> nodes;      // owns them
};

// Parses a text of a single document, and adds the first error, if any, with
// its remedy; the document then is incomplete. Nesting is limited. Callers must
// limit how often they visit nodes that aliases repeat: `cost` is that of
// visiting each of them once.
YamlDocument ParseYamlDocument(absl::string_view text, PlacedErrors& errors);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_YAML_DOCUMENT_H_
