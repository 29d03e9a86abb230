// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/figures.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "distbench/stats/quantile_interval.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "proto/json_options.pb.h"

namespace distbench::report {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// What is found once for types of messages, because rows are many.
template <typename Key, typename Value>
class FoundOnce {
 public:
  // The value lives on.
  const Value& Find(const Key& key, Value (*find)(const Key&)) {
    absl::MutexLock lock(&mutex_);
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    return values_.emplace(key, find(key)).first->second;
  }

 private:
  absl::Mutex mutex_;
  absl::node_hash_map<Key, Value> values_;
};

// ---- Figures of times -------------------------------------------------------

struct FigureField {
  enum class Kind { kMin, kMean, kMax, kPercentile, kFailedAbove };
  const FieldDescriptor* field;
  Kind kind = Kind::kPercentile;
  double percent = 0;  // of a percentile
};

// The digits after the first two are decimals.
FigureField FigureOf(const FieldDescriptor& field) {
  using Kind = FigureField::Kind;
  absl::string_view name = field.name();
  if (name == "failed_above_percent") return {&field, Kind::kFailedAbove};
  CHECK(absl::ConsumeSuffix(&name, "_ns")) << field.full_name();
  if (name == "min") return {&field, Kind::kMin};
  if (name == "mean") return {&field, Kind::kMean};
  if (name == "max") return {&field, Kind::kMax};
  FigureField figure = {&field};
  CHECK(absl::ConsumePrefix(&name, "p") && name.size() >= 2 &&
        absl::SimpleAtod(absl::StrCat(name.substr(0, 2), ".", name.substr(2)),
                         &figure.percent))
      << field.full_name();
  return figure;
}

using FigureFields = std::vector<FigureField>;

FigureFields FindFigures(const Descriptor* const& type) {
  FigureFields figures;
  for (int i = 0; i < type->field_count(); ++i) {
    figures.push_back(FigureOf(*type->field(i)));
  }
  return figures;
}

const FigureFields& FiguresOf(const Message& times) {
  static auto& known = *new FoundOnce<const Descriptor*, FigureFields>;
  return known.Find(times.GetDescriptor(), FindFigures);
}

template <typename Number>
void SetNumber(const FieldDescriptor& field, Number number, Message& message) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    message.GetReflection()->SetDouble(&message, &field,
                                       static_cast<double>(number));
  } else {
    message.GetReflection()->SetInt64(&message, &field,
                                      static_cast<int64_t>(number));
  }
}

std::optional<double> PercentileOf(const stats::OutcomesView& outcomes,
                                   double percent) {
  const std::optional<int64_t> value_ns = ShownPercentile(outcomes, percent);
  if (!value_ns || *value_ns == stats::Outcomes::kFailed) return std::nullopt;
  return static_cast<double>(*value_ns);
}

// Of values up to 2^53 ns, which is 104 days, a double is exact.
std::optional<double> ValueOf(const FigureField& figure,
                              const stats::OutcomesView& outcomes,
                              const stats::RunningMoments& moments,
                              bool has_others) {
  using Kind = FigureField::Kind;
  if (figure.kind == Kind::kFailedAbove) {
    return FailedAbovePercent(outcomes.count(), outcomes.failed_count());
  }
  if (figure.kind == Kind::kPercentile) {
    return has_others ? std::nullopt : PercentileOf(outcomes, figure.percent);
  }
  if (moments.count == 0) return std::nullopt;
  if (figure.kind == Kind::kMean) {
    return moments.sum / static_cast<double>(moments.count);
  }
  return static_cast<double>(figure.kind == Kind::kMin ? moments.min
                                                       : moments.max);
}

}  // namespace

std::optional<int64_t> ShownPercentile(const stats::OutcomesView& outcomes,
                                       double percent) {
  const double quantile = percent / 100;
  if (!stats::SupportsQuantile(outcomes.count(), quantile)) return std::nullopt;
  return outcomes.ValueAtQuantile(quantile);
}

void SetTimes(const stats::OutcomesView& outcomes, Message& times,
              const stats::RunningMoments& others) {
  stats::RunningMoments moments(outcomes.latency_ns());
  moments.Merge(others);
  for (const FigureField& figure : FiguresOf(times)) {
    if (const auto value =
            ValueOf(figure, outcomes, moments, others.count > 0)) {
      SetNumber(*figure.field, *value, times);
    }
  }
}

void SetTimes(const Report::Latency& latency, Message& times) {
  CopyByName(latency, times);
  for (const FigureField& figure : FiguresOf(times)) {
    if (figure.kind != FigureField::Kind::kPercentile) continue;
    for (const Report::Percentile& percentile : latency.percentiles()) {
      if (percentile.percentile() == figure.percent &&
          percentile.has_value_ns()) {
        SetNumber(*figure.field, percentile.value_ns(), times);
      }
    }
  }
}

std::optional<double> FailedAbovePercent(uint64_t count,
                                         uint64_t failed_count) {
  if (failed_count == 0) return std::nullopt;
  return 100 * static_cast<double>(count - failed_count) /
         static_cast<double>(count);
}

void SetFigure(const std::optional<double>& figure, const char* number,
               const char* failed, Message& message) {
  if (!figure) return;
  const Descriptor& type = *message.GetDescriptor();
  if (std::isinf(*figure)) {
    message.GetReflection()->SetBool(&message, type.FindFieldByName(failed),
                                     true);
  } else {
    SetNumber(*type.FindFieldByName(number), *figure, message);
  }
}

void SetDifference(const std::optional<stats::Difference>& difference,
                   const std::string& number, const std::string& prefix,
                   Message& message) {
  const auto set = [&](const std::string& name, double value) {
    SetNumber(*message.GetDescriptor()->FindFieldByName(name), value, message);
  };
  if (!difference) return;
  set(number, difference->estimate);
  if (!difference->interval) return;
  set(prefix + "lower", difference->interval->lower);
  set(prefix + "upper", difference->interval->upper);
}

// ---- Copies -----------------------------------------------------------------

namespace {

struct Types {
  const Descriptor* from;
  const Descriptor* to;

  bool operator==(const Types& other) const = default;

  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const Types& types) {
    return Hash::combine(std::move(hash), types.from, types.to);
  }
};

// Fields of the same name, that of the source first.
using FieldPairs =
    std::vector<std::pair<const FieldDescriptor*, const FieldDescriptor*>>;

bool IsInteger(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
}

bool AreAlike(const FieldDescriptor& from, const FieldDescriptor& to) {
  return from.is_repeated() == to.is_repeated() &&
         (from.cpp_type() == to.cpp_type() ||
          (IsInteger(from) && IsInteger(to)));
}

FieldPairs FindPairs(const Types& types) {
  FieldPairs pairs;
  for (int i = 0; i < types.to->field_count(); ++i) {
    const FieldDescriptor* to = types.to->field(i);
    const std::string& other = to->options().GetExtension(::distbench::from);
    const FieldDescriptor* from =
        types.from->FindFieldByName(other.empty() ? to->name() : other);
    if (from != nullptr && AreAlike(*from, *to)) pairs.emplace_back(from, to);
  }
  return pairs;
}

const FieldPairs& PairsOf(const Types& types) {
  static auto& known = *new FoundOnce<Types, FieldPairs>;
  return known.Find(types, FindPairs);
}

int64_t IntegerOf(const Message& message, const FieldDescriptor& field,
                  int index) {
  const Reflection& get = *message.GetReflection();
  const bool repeated = field.is_repeated();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    return repeated ? get.GetRepeatedInt32(message, &field, index)
                    : get.GetInt32(message, &field);
  }
  return repeated ? get.GetRepeatedInt64(message, &field, index)
                  : get.GetInt64(message, &field);
}

// Sets the field, or adds the item of a repeated one.
void CopyValue(const Message& from, const FieldDescriptor& from_field,
               int index, Message& to, const FieldDescriptor& field) {
  const Reflection& get = *from.GetReflection();
  const Reflection& set = *to.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value =
          static_cast<int32_t>(IntegerOf(from, from_field, index));
      repeated ? set.AddInt32(&to, &field, value)
               : set.SetInt32(&to, &field, value);
      return;
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const int64_t value = IntegerOf(from, from_field, index);
      repeated ? set.AddInt64(&to, &field, value)
               : set.SetInt64(&to, &field, value);
      return;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      repeated ? set.AddString(&to, &field,
                               get.GetRepeatedString(from, &from_field, index))
               : set.SetString(&to, &field, get.GetString(from, &from_field));
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      CopyByName(repeated ? get.GetRepeatedMessage(from, &from_field, index)
                          : get.GetMessage(from, &from_field),
                 *(repeated ? set.AddMessage(&to, &field)
                            : set.MutableMessage(&to, &field)));
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      repeated ? set.AddBool(&to, &field,
                             get.GetRepeatedBool(from, &from_field, index))
               : set.SetBool(&to, &field, get.GetBool(from, &from_field));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      repeated ? set.AddDouble(&to, &field,
                               get.GetRepeatedDouble(from, &from_field, index))
               : set.SetDouble(&to, &field, get.GetDouble(from, &from_field));
      return;
    default:
      LOG(FATAL) << field.full_name() << " has a type that is not copied";
  }
}

}  // namespace

void CopyByName(const Message& from, Message& to) {
  const Reflection& reflection = *from.GetReflection();
  for (const auto& [from_field, field] :
       PairsOf({from.GetDescriptor(), to.GetDescriptor()})) {
    if (from_field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(from, from_field); ++i) {
        CopyValue(from, *from_field, i, to, *field);
      }
    } else if (!from_field->has_presence() ||
               reflection.HasField(from, from_field)) {
      CopyValue(from, *from_field, 0, to, *field);
    }
  }
}

}  // namespace distbench::report
