// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/rules/field_rules.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/index_list.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/type_rules.h"
#include "distbench/config/syntax/quantity.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "proto/rules.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// ---- Places -----------------------------------------------------------------

std::string NameOf(const Message& message) {
  const FieldDescriptor* const name =
      message.GetDescriptor()->FindFieldByName("name");
  return message.GetReflection()->GetString(message, name);
}

NameIndex NamesIn(const Message& message, const FieldDescriptor* list) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<std::string> names;
  for (int i = 0; i < reflection.FieldSize(message, list); ++i) {
    names.push_back(NameOf(reflection.GetRepeatedMessage(message, list, i)));
  }
  return NameIndex(names);
}

std::string KeyOf(const Message& entry) {
  return entry.GetReflection()->GetString(entry,
                                          entry.GetDescriptor()->map_key());
}

// A location in a message. It becomes a Path only if there is a problem, which
// is rare, while locations are many.
struct Place {
  const Place* outer;      // null: the message that is checked
  const Message* message;  // that has the field
  const FieldDescriptor* field;
  int index = kNone;  // of an element, or of an entry of a map
};

// Elements with names are called by them; if a name is repeated, only the
// first.
Path PathOfElement(const Place& place, const Path& field) {
  if (place.field->is_map()) {
    return field.At(KeyOf(place.message->GetReflection()->GetRepeatedMessage(
        *place.message, place.field, place.index)));
  }
  if (!place.field->options().GetExtension(distbench::rules).has_element()) {
    return field.At(place.index);
  }
  const auto name_at = [&](int index) {
    return NameOf(place.message->GetReflection()->GetRepeatedMessage(
        *place.message, place.field, index));
  };
  const std::string name = name_at(place.index);
  if (name.empty()) return field.At(place.index);
  for (int i = 0; i < place.index; ++i) {
    if (name_at(i) == name) return field.At(place.index);
  }
  return field.At(name);
}

Path MakePath(const Path& root, const Place* place) {
  if (place == nullptr) return root;
  const Path field = MakePath(root, place->outer).Field(place->field->name());
  return place->index == kNone ? field : PathOfElement(*place, field);
}

// ---- What is wrong ----------------------------------------------------------

bool IsInRange(double value, const FieldRules& rules) {
  // Written so that NaN is out of range.
  return (rules.has_at_least() ? value >= rules.at_least()
                               : value > rules.above()) &&
         (rules.has_at_most() ? value <= rules.at_most()
                              : value < rules.below());
}

// Without the zeros and the plus sign of an exponent.
std::string NumberText(double number) {
  return absl::StrReplaceAll(absl::StrCat(number),
                             {{"e+0", "e"}, {"e+", "e"}, {"e-0", "e-"}});
}

std::string RangeOfFractions(const FieldRules& rules) {
  if (rules.has_at_least()) {
    return absl::StrCat("from ", NumberText(rules.at_least()), " to ",
                        NumberText(rules.at_most()));
  }
  return absl::StrCat("above ", NumberText(rules.above()), " and ",
                      rules.has_at_most()
                          ? absl::StrCat("at most ", rules.at_most())
                          : absl::StrCat("below ", rules.below()));
}

std::string RightWords(const std::string& text, const FieldRules& rules) {
  const std::vector<std::string> words(rules.words().begin(),
                                       rules.words().end());
  if (rules.remedy() == FieldRules::CLOSEST) return Suggestion(text, words);
  if (rules.remedy() == FieldRules::LIST) {
    return absl::StrCat("must be one of ", QuotedList(words));
  }
  const std::vector<std::string> others(words.begin(), words.end() - 1);
  return absl::StrCat("must be ", QuotedList(others), " or ",
                      Quoted(words.back()));
}

std::string ProblemOfWord(const std::string& text, const FieldRules& rules) {
  return absl::StrCat(rules.has_word()
                          ? absl::StrCat(Quoted(text), " is ", rules.word())
                          : absl::StrCat("there is no ", Quoted(text)),
                      "; ", RightWords(text, rules));
}

std::string ProblemOfIndices(const std::string& text) {
  const absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(text);
  if (!indices.ok()) return std::string(indices.status().message());
  return indices->empty() ? "is an empty list; leave it out, or write one such "
                            "as 0-3,8"
                          : "";
}

std::string ProblemOfName(const std::string& name, const FieldRules& rules) {
  if (rules.has_max_length() && name.size() > rules.max_length()) {
    return absl::StrCat("is longer than ", rules.max_length(),
                        " characters; shorten it");
  }
  if (!rules.has_plain() || IsPlain(name)) return "";
  return absl::StrCat(Quoted(name), " has characters that no ", rules.plain(),
                      " may have; use letters, digits, '_', '-' and '.'");
}

// Of a text that is given, apart from references. Empty if it is right.
std::string ProblemOfText(const std::string& text, const FieldRules& rules) {
  if (rules.unit() != FieldRules::NO_UNIT) {
    return std::string(ParseQuantity(text, rules).status().message());
  }
  if (rules.host_amount() == FieldRules::MEMORY) {
    return std::string(ParseMemoryAmount(text).status().message());
  }
  if (rules.host_amount() == FieldRules::CPUS) {
    return std::string(ParseCpuAmount(text).status().message());
  }
  if (!rules.words().empty() && !absl::c_linear_search(rules.words(), text) &&
      !(text.empty() && rules.empty_is_default())) {
    return ProblemOfWord(text, rules);
  }
  if (rules.index_list()) return ProblemOfIndices(text);
  return ProblemOfName(text, rules);
}

bool IsListOfReferences(const FieldDescriptor& field) {
  return field.is_repeated() && ListOf(field) != nullptr;
}

// ---- The walk ---------------------------------------------------------------

// The positions of the entries of a map, by key, so that the order of problems
// is stable.
std::map<std::string, int> EntriesOf(const Message& message,
                                     const FieldDescriptor* map) {
  const Reflection& reflection = *message.GetReflection();
  std::map<std::string, int> entries;
  for (int i = 0; i < reflection.FieldSize(message, map); ++i) {
    entries[KeyOf(reflection.GetRepeatedMessage(message, map, i))] = i;
  }
  return entries;
}

using HasProduct = absl::FunctionRef<bool(absl::string_view)>;

bool HasAllProducts(absl::string_view) { return true; }

class FieldCheck {
 public:
  // Without a test or its names, what refers to them is not checked.
  FieldCheck(const DistributedSystemDescription* test, const Path& root,
             const TestNames* names, HasProduct has_product, Problems& problems)
      : test_(test),
        root_(root),
        names_(names),
        has_product_(has_product),
        problems_(problems) {}

  void CheckMessage(const Message& message, const Place* outer) const {
    const TypeRules& type = RulesOf(message.GetDescriptor());
    for (const FieldRule& rule : type.fields) CheckField(message, rule, outer);
    for (const ConflictRule& conflict : type.conflicts) {
      CheckConflict(message, conflict, outer);
    }
  }

  void CheckField(const Message& message, const FieldRule& rule,
                  const Place* outer) const {
    const Place place{outer, &message, rule.field};
    if (!rule.product.empty() && !has_product_(rule.product)) {
      if (IsThere(message, rule.field)) Add(&place, LacksProduct(rule.product));
      return;
    }
    if (rule.has_rules) {
      if (rule.field->is_repeated()) {
        CheckList(message, rule, place);
      } else {
        CheckSingle(message, rule, place);
      }
    }
    if (rule.is_checked_within) CheckWithin(message, *rule.field, place);
  }

  void CheckConflict(const Message& message, const ConflictRule& conflict,
                     const Place* outer) const {
    const Place within{outer, &message, conflict.within};
    Place place{conflict.within == nullptr ? outer : &within, &message,
                conflict.at};
    if (conflict.at == nullptr || !IsListOfReferences(*conflict.at)) {
      if (!IsBroken(message, conflict, kNone)) return;
      Add(conflict.at == nullptr ? outer : &place,
          ProblemOf(message, conflict, kNone));
      return;
    }
    const int size = message.GetReflection()->FieldSize(message, conflict.at);
    for (place.index = 0; place.index < size; ++place.index) {
      if (!IsBroken(message, conflict, place.index)) continue;
      Add(&place, ProblemOf(message, conflict, place.index));
    }
  }

 private:
  // Places are searched for the names on the way, which takes a time that grows
  // with the square of what is wrong, only for problems that are kept.
  template <typename... Parts>
  void Add(const Place* place, const Parts&... message) const {
    problems_.Add([&] {
      return Problem{MakePath(root_, place).text(), absl::StrCat(message...)};
    });
  }

  // `element` is that of the list at which the conflict is.
  bool IsBroken(const Message& message, const ConflictRule& conflict,
                int element) const {
    const auto holds = [&](const Condition& condition) {
      if (condition.reference == nullptr) return Holds(message, condition);
      const Message* const named =
          Named(message, *condition.reference,
                condition.reference == conflict.at ? element : kNone);
      return named != nullptr && Holds(*named, condition);
    };
    return absl::c_all_of(conflict.when, [&](const auto& alternatives) {
      return absl::c_any_of(alternatives, holds);
    });
  }

  // The element of the test that a reference names, or the message in a field;
  // null if there is none, or it is not known.
  const Message* Named(const Message& message, const FieldDescriptor& reference,
                       int index) const {
    if (reference.message_type() != nullptr) {
      const Reflection& reflection = *message.GetReflection();
      return reflection.HasField(message, &reference)
                 ? &reflection.GetMessage(message, &reference)
                 : nullptr;
    }
    if (test_ == nullptr) return nullptr;
    const FieldDescriptor* const list = ListOf(reference);
    const int position =
        names_->Of(list->number())->Find(ValueText(message, &reference, index));
    if (position == kNone) return nullptr;
    return &test_->GetReflection()->GetRepeatedMessage(*test_, list, position);
  }

  static std::string LacksProduct(const std::string& product) {
    return absl::StrCat("belongs to the product ", Quoted(product),
                        ", which this program was built without; use a "
                        "complete build of distbench, or remove it");
  }

  void CheckWithin(const Message& message, const FieldDescriptor& field,
                   Place place) const {
    const Reflection& reflection = *message.GetReflection();
    if (!field.is_repeated()) {
      if (!reflection.HasField(message, &field)) return;
      CheckMessage(reflection.GetMessage(message, &field), &place);
      return;
    }
    if (field.is_map()) {
      for (const auto& [key, index] : EntriesOf(message, &field)) {
        place.index = index;
        const Message& entry =
            reflection.GetRepeatedMessage(message, &field, index);
        CheckMessage(entry.GetReflection()->GetMessage(
                         entry, entry.GetDescriptor()->map_value()),
                     &place);
      }
      return;
    }
    const int size = reflection.FieldSize(message, &field);
    for (place.index = 0; place.index < size; ++place.index) {
      CheckMessage(reflection.GetRepeatedMessage(message, &field, place.index),
                   &place);
    }
  }

  // ---- Single fields ----

  void CheckSingle(const Message& message, const FieldRule& rule,
                   const Place& place) const {
    const Reflection& reflection = *message.GetReflection();
    if (!reflection.HasField(message, rule.field)) {
      CheckAbsent(message, rule, place);
      return;
    }
    switch (rule.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        CheckText(message, rule, place);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        CheckFraction(static_cast<double>(NumberIn(message, rule.field)), rule,
                      place);
        break;
      default:
        CheckInteger(message, rule, place);
        break;
    }
  }

  bool IsThere(const Message& message, const FieldDescriptor* field) const {
    if (field == nullptr) return false;
    const Reflection& reflection = *message.GetReflection();
    return field->is_repeated() ? reflection.FieldSize(message, field) > 0
                                : reflection.HasField(message, field);
  }

  void CheckAbsent(const Message& message, const FieldRule& rule,
                   const Place& place) const {
    const FieldRules& rules = rule.rules;
    // A text that is left in a canonical message is wrong, which is reported.
    if (IsThere(message, rule.text)) return;
    if (absl::c_any_of(rule.unless, [&](const FieldDescriptor* other) {
          return IsThere(message, other);
        })) {
      return;
    }
    if (rules.has_missing()) {
      Add(&place, "is missing; ", rules.missing());
    } else if (rules.required() && rules.has_refers_to()) {
      CheckName("", rule, place);
    } else if (rules.required()) {
      CheckInteger(message, rule, place);
    }
  }

  void CheckInteger(const Message& message, const FieldRule& rule,
                    const Place& place) const {
    if (!rule.has_range) return;
    const Reflection& reflection = *message.GetReflection();
    const int64_t value =
        rule.field->cpp_type() == FieldDescriptor::CPPTYPE_INT32
            ? reflection.GetInt32(message, rule.field)
            : reflection.GetInt64(message, rule.field);
    std::string problem =
        ProblemOfRange(value, rule.rules.min(), rule.rules.max());
    if (!problem.empty()) Add(&place, std::move(problem));
  }

  void CheckFraction(double value, const FieldRule& rule,
                     const Place& place) const {
    if (IsInRange(value, rule.rules)) return;
    Add(&place, value, " is ",
        rule.rules.has_word() ? rule.rules.word() : "out of range",
        "; must be ", RangeOfFractions(rule.rules));
  }

  void CheckText(const Message& message, const FieldRule& rule,
                 const Place& place) const {
    std::string scratch;
    const std::string& text = message.GetReflection()->GetStringReference(
        message, rule.field, &scratch);
    const FieldRules& rules = rule.rules;
    if (IsThere(message, rule.number)) {
      Add(place.outer, "has both ", rule.field->name(), " and ",
          rules.text_of(), "; give one");
    }
    if (rules.has_missing() && text.empty()) {
      Add(&place, "is missing; ", rules.missing());
      return;
    }
    const bool may_be_none =
        rules.has_channel_of() || (rules.has_refers_to() && !rules.required() &&
                                   rule.field->containing_oneof() == nullptr);
    if (!text.empty() || !may_be_none) CheckValue(message, text, rule, place);
  }

  void CheckValue(const Message& message, const std::string& text,
                  const FieldRule& rule, const Place& place) const {
    if (rule.rules.has_refers_to()) {
      CheckName(text, rule, place);
    } else if (rule.rules.has_channel_of()) {
      CheckChannel(message, text, rule, place);
    } else if (std::string problem = ProblemOfText(text, rule.rules);
               !problem.empty()) {
      Add(&place, std::move(problem));
    }
  }

  void CheckName(const std::string& name, const FieldRule& rule,
                 const Place& place) const {
    if (names_ == nullptr) return;
    CheckNameIn(
        *names_->Of(rule.refers_to->number()),
        rule.refers_to->options().GetExtension(distbench::rules).element(),
        name, place);
  }

  void CheckNameIn(const NameIndex& index, absl::string_view kind,
                   const std::string& name, const Place& place) const {
    if (!name.empty() && index.Find(name) != kNone) return;
    problems_.Add([&] {
      return Problem{MakePath(root_, &place).text(),
                     UnknownName(kind, name, index)};
    });
  }

  // A service that there is not is reported where it is named.
  void CheckChannel(const Message& message, const std::string& name,
                    const FieldRule& rule, const Place& place) const {
    if (test_ == nullptr) return;
    const std::string service =
        message.GetReflection()->GetString(message, rule.channel_of);
    const int position = names_->services.Find(service);
    if (position == kNone) return;
    const auto& channels = test_->services(position).multi_server_channels();
    CheckNameIn(
        channels_.try_emplace(position, channels).first->second,
        absl::StrCat("multi-server channel of service ", Quoted(service)), name,
        place);
  }

  // ---- Lists ----

  void CheckList(const Message& message, const FieldRule& rule,
                 Place place) const {
    const FieldRules& rules = rule.rules;
    const int size = message.GetReflection()->FieldSize(message, rule.field);
    if (size == 0 && rules.has_missing()) {
      Add(&place, "is missing; ", rules.missing());
    } else if (size == 0 && rules.required() && !rule.has_range) {
      Add(&place, "there are none; add at least one");
    } else if (rule.has_range && (size > 0 || rules.required()) &&
               (size < rules.min() || size > rules.max())) {
      Add(&place, "there are ", size, "; must be from ", rules.min(), " to ",
          rules.max());
    }
    if (rules.has_element()) CheckNamesOfElements(message, rule, place);
    if (rules.has_refers_to() || rules.has_channel_of() ||
        !rules.words().empty()) {
      for (place.index = 0; place.index < size; ++place.index) {
        CheckValue(message,
                   message.GetReflection()->GetRepeatedString(
                       message, rule.field, place.index),
                   rule, place);
      }
    }
    if (rules.distinct()) CheckDistinct(message, rule, place);
  }

  void CheckDistinct(const Message& message, const FieldRule& rule,
                     Place place) const {
    const Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, rule.field);
    std::set<std::string> seen;
    for (place.index = 0; place.index < size; ++place.index) {
      const int i = place.index;
      const bool is_text =
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      const std::string value =
          is_text ? reflection.GetRepeatedString(message, rule.field, i)
                  : absl::StrCat(
                        reflection.GetRepeatedInt32(message, rule.field, i));
      if (seen.insert(value).second) continue;
      Add(&place, is_text ? Quoted(value) : value,
          " is listed more than once; remove one");
    }
  }

  void CheckNamesOfElements(const Message& message, const FieldRule& rule,
                            const Place& list) const {
    if (names_ == nullptr) return;
    const bool is_of_test =
        message.GetDescriptor() == DistributedSystemDescription::descriptor();
    // Those of lists that only a product uses are not among the test's.
    const NameIndex* const names =
        is_of_test ? names_->Of(rule.field->number()) : nullptr;
    if (names != nullptr) {
      CheckNames(*names, rule, list);
    } else {
      CheckNames(NamesIn(message, rule.field), rule, list);
    }
  }

  void CheckNames(const NameIndex& index, const FieldRule& rule,
                  const Place& list) const {
    for (int i = 0; i < index.names().size(); ++i) {
      std::string problem = ProblemOfElement(index, i, rule);
      if (problem.empty()) continue;
      problems_.Add([&] {
        return Problem{MakePath(root_, &list).At(i).Field("name").text(),
                       std::move(problem)};
      });
    }
  }

  static std::string ProblemOfElement(const NameIndex& index, int position,
                                      const FieldRule& list) {
    const std::string& name = index.names()[position];
    const int first = index.Find(name);
    if (name.empty()) return "is missing; give it a name";
    if (first != position) {
      return absl::StrCat(Quoted(name), " is the name of ", list.field->name(),
                          "[", first, "] as well; names must be unique");
    }
    if (name.size() > kMaxNameLength) {
      return absl::StrCat("is longer than ", kMaxNameLength,
                          " characters; shorten it");
    }
    if (list.rules.has_plain()) return ProblemOfName(name, list.rules);
    return ProblemOfCharacters(name);
  }

  const DistributedSystemDescription* const test_;
  const Path& root_;
  const TestNames* const names_;
  mutable absl::node_hash_map<int, NameIndex> channels_;  // by service
  const HasProduct has_product_;
  Problems& problems_;
};

// ---- Canonical form ---------------------------------------------------------

void CanonicalizeField(Message& message, const FieldRule& rule) {
  const Reflection& reflection = *message.GetReflection();
  if (!reflection.HasField(message, rule.field)) return;
  if (rule.field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    const bool value = reflection.GetBool(message, rule.field);
    if (!value) reflection.ClearField(&message, rule.field);
    return;
  }
  const std::string text = reflection.GetString(message, rule.field);
  if (rule.rules.empty_is_default() && text.empty()) {
    reflection.ClearField(&message, rule.field);
  } else if (rule.number == nullptr) {
    reflection.SetString(&message, rule.field, CanonicalText(text, rule.rules));
  } else if (!reflection.HasField(message, rule.number)) {
    const absl::StatusOr<int64_t> number = ParseQuantity(text, rule.rules);
    if (!number.ok()) return;
    reflection.SetInt64(&message, rule.number, *number);
    reflection.ClearField(&message, rule.field);
  }
}

}  // namespace

void CanonicalizeFields(Message& message) {
  const TypeRules& type = RulesOf(message.GetDescriptor());
  if (!type.changes) return;
  const Reflection& reflection = *message.GetReflection();
  for (const FieldRule& rule : type.fields) {
    const FieldDescriptor* const field = rule.field;
    if (rule.is_changed) {
      CanonicalizeField(message, rule);
    } else if (rule.is_changed_within && field->is_repeated()) {
      const int size = reflection.FieldSize(message, field);
      for (int i = 0; i < size; ++i) {
        CanonicalizeFields(
            *reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else if (rule.is_changed_within && reflection.HasField(message, field)) {
      CanonicalizeFields(*reflection.MutableMessage(&message, field));
    }
  }
}

void CheckFields(const Message& message, const Path& path,
                 const TestNames* names, Problems& problems) {
  FieldCheck(/*test=*/nullptr, path, names, HasAllProducts, problems)
      .CheckMessage(message, nullptr);
}

void CheckTest(const DistributedSystemDescription& test, const Path& path,
               const TestNames& names, HasProduct has_product,
               Problems& problems) {
  FieldCheck(&test, path, &names, has_product, problems)
      .CheckMessage(test, nullptr);
}

bool IsRight(const Message& message, absl::string_view field) {
  Problems problems;
  const Path nowhere;
  const FieldCheck check(/*test=*/nullptr, nowhere, /*names=*/nullptr,
                         HasAllProducts, problems);
  const TypeRules& type = RulesOf(message.GetDescriptor());
  for (const FieldRule& rule : type.fields) {
    if (rule.field->name() == field) check.CheckField(message, rule, nullptr);
  }
  for (const ConflictRule& conflict : type.conflicts) {
    if (conflict.at != nullptr && conflict.within == nullptr &&
        conflict.at->name() == field) {
      check.CheckConflict(message, conflict, nullptr);
    }
  }
  return problems.count() == 0;
}

int WordNumber(const Message& message, int field_number) {
  const FieldDescriptor& field =
      *message.GetDescriptor()->FindFieldByNumber(field_number);
  const auto& words = field.options().GetExtension(distbench::rules).words();
  std::string word = message.GetReflection()->GetString(message, &field);
  if (word.empty()) word = field.default_value_string();
  const auto found = absl::c_find(words, word);
  CHECK(found != words.end()) << field.full_name() << ": " << word;
  return static_cast<int>(found - words.begin());
}

bool IsPlain(absl::string_view name) {
  return absl::c_all_of(name, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

std::string ProblemOfCharacters(const std::string& name) {
  if (absl::c_none_of(name,
                      [](unsigned char c) { return absl::ascii_iscntrl(c); })) {
    return "";
  }
  return absl::StrCat(Quoted(name), " has control characters; remove them");
}

Path ElementPath(const Path& list, const NameIndex& names, int position) {
  const std::string& name = names.names()[position];
  const bool is_called_by_it = !name.empty() && names.Find(name) == position;
  return is_called_by_it ? list.At(name) : list.At(position);
}

std::string UnknownName(absl::string_view kind, const std::string& name,
                        const NameIndex& index) {
  if (name.empty()) return absl::StrCat("is missing; name the ", kind);
  return absl::StrCat("no ", kind, " is named ", Quoted(name), "; ",
                      Suggestion(name, index.names()));
}

}  // namespace distbench::config
