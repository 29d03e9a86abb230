// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/message_sums.h"

#include <algorithm>
#include <type_traits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const FieldDescriptor& FieldOf(const Message& message, int number) {
  return *message.GetDescriptor()->FindFieldByNumber(number);
}

template <typename Distribution>
const Distribution& Get(const Message& message, const FieldDescriptor& field) {
  return static_cast<const Distribution&>(
      message.GetReflection()->GetMessage(message, &field));
}

template <typename Distribution>
Distribution& Mutable(const FieldDescriptor& field, Message& message) {
  return static_cast<Distribution&>(
      *message.GetReflection()->MutableMessage(&message, &field));
}

// Calls visit(field, value) for the numbers that the message has. Allocates
// nothing, because large results have millions of messages.
template <typename Visit>
void ForEachNumber(const Message& message, Visit visit) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_repeated() || !reflection.HasField(message, &field)) continue;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      visit(field, reflection.GetInt64(message, &field));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      visit(field, reflection.GetDouble(message, &field));
    } else if (field.message_type() == Histogram::descriptor()) {
      visit(field, Get<Histogram>(message, field));
    } else if (field.message_type() == ValueMoments::descriptor()) {
      visit(field, Get<ValueMoments>(message, field));
    }
  }
}

void AddTo(const FieldDescriptor& field, int64_t count, Message& into) {
  const Reflection& reflection = *into.GetReflection();
  base::SaturatingAddTo(count, reflection.GetInt64(into, &field));
  reflection.SetInt64(&into, &field, count);
}

void AddTo(const FieldDescriptor& field, double amount, Message& into) {
  const Reflection& reflection = *into.GetReflection();
  amount += reflection.GetDouble(into, &field);
  reflection.SetDouble(&into, &field, amount);
}

void AddTo(const FieldDescriptor& field, const Histogram& histogram,
           Message& into) {
  MergeHistogram(histogram, Mutable<Histogram>(field, into));
}

void AddTo(const FieldDescriptor& field, const ValueMoments& moments,
           Message& into) {
  stats::RunningMoments sum = MomentsOf(Get<ValueMoments>(into, field));
  AddMoments(moments, sum);
  if (sum.count > 0) EncodeMoments(sum, Mutable<ValueMoments>(field, into));
}

}  // namespace

absl::Status ValidateCounters(const Message& message,
                              const CounterTexts& texts) {
  int64_t least = 0;
  absl::Status status;
  ForEachNumber(message, [&](const FieldDescriptor& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, int64_t>) {
      least = std::min(least, value);
    } else if (!status.ok()) {
      return;  // the first error is reported
    } else if constexpr (std::is_same_v<Value, ValueMoments>) {
      status = ValidateMoments(value);
    } else if constexpr (std::is_same_v<Value, Histogram>) {
      status = ValidateHistogram(value);
      if (status.ok()) return;
      status = absl::InvalidArgumentError(absl::Substitute(
          texts.bad_histogram, field.name(), status.message()));
    }
  });
  if (least == 0) return status;
  return absl::InvalidArgumentError(
      absl::Substitute(texts.negative_count, least));
}

void AddCounters(const Message& from, Message& into,
                 absl::Span<const int> levels) {
  ForEachNumber(from, [&](const FieldDescriptor& field, const auto& value) {
    if (absl::c_linear_search(levels, field.number())) {
      into.GetReflection()->ClearField(&into, &field);
    }
    AddTo(field, value, into);
  });
}

void AddProgress(const TrafficProgress& part, TrafficProgress& sum) {
  const int64_t time_ns =
      std::max(part.traffic_time_ns(), sum.traffic_time_ns());
  ForEachNumber(part, [&sum](const FieldDescriptor& field, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>,
                                 int64_t>) {
      AddTo(field, value, sum);
    }
  });
  if (part.has_traffic_time_ns()) sum.set_traffic_time_ns(time_ns);
}

absl::Status MergeCounters(const Message& from, const CounterTexts& texts,
                           Message& into) {
  absl::Status status = ValidateCounters(from, texts);
  if (status.ok()) status = ValidateCounters(into, texts);
  if (status.ok()) AddCounters(from, into);
  return status;
}

void SubtractCounters(const Message& start, Message& into,
                      absl::Span<const int> levels,
                      WithoutStart without_start) {
  const Reflection& reflection = *into.GetReflection();
  ForEachNumber(into, [&](const FieldDescriptor& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if (absl::c_linear_search(levels, field.number())) return;
    if (without_start == WithoutStart::kRemoved &&
        !reflection.HasField(start, &field)) {
      reflection.ClearField(&into, &field);
    } else if constexpr (std::is_same_v<Value, int64_t>) {
      const int64_t counted =
          base::SaturatingSubtract(value, reflection.GetInt64(start, &field));
      reflection.SetInt64(&into, &field, std::max<int64_t>(counted, 0));
    } else if constexpr (std::is_same_v<Value, double>) {
      const double used = value - reflection.GetDouble(start, &field);
      reflection.SetDouble(&into, &field, std::max(used, 0.0));
    }
  });
}

void AddField(const Message& message, int field, int64_t& count) {
  base::SaturatingAddTo(count, message.GetReflection()->GetInt64(
                                   message, &FieldOf(message, field)));
}

void AddField(const Message& message, int field, stats::LogHistogram& values) {
  const FieldDescriptor& descriptor = FieldOf(message, field);
  if (!message.GetReflection()->HasField(message, &descriptor)) return;
  // Adding valid histograms cannot fail.
  AddHistogram(Get<Histogram>(message, descriptor), values).IgnoreError();
}

void AddField(const Message& message, int field,
              stats::RunningMoments& values) {
  AddMoments(Get<ValueMoments>(message, FieldOf(message, field)), values);
}

void EncodeField(int64_t count, int field, Message& message) {
  message.GetReflection()->SetInt64(&message, &FieldOf(message, field), count);
}

void EncodeField(const stats::LogHistogram& values, int field,
                 Message& message) {
  if (values.count() == 0) return;
  EncodeHistogram(values, Mutable<Histogram>(FieldOf(message, field), message));
}

void EncodeField(const stats::RunningMoments& values, int field,
                 Message& message) {
  if (values.count == 0) return;
  EncodeMoments(values,
                Mutable<ValueMoments>(FieldOf(message, field), message));
}

// ---- Tallies ----------------------------------------------------------------

Tally::Tally(const google::protobuf::Descriptor& type) : type_(type) {
  int last = 0;
  for (int i = 0; i < type.field_count(); ++i) {
    last = std::max(last, type.field(i)->number());
  }
  fields_.resize(last + 1);
}

absl::Status Tally::ValidateSumWith(const Message& message) const {
  absl::Status status;
  ForEachNumber(message, [&](const FieldDescriptor& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if (!status.ok()) return;  // the first error is reported
    const Field& sum = fields_[field.number()];
    if constexpr (std::is_same_v<Value, Histogram>) {
      status = ValidateSum(value, sum.histogram == nullptr
                                      ? stats::RunningMoments()
                                      : stats::RunningMoments(*sum.histogram));
    } else if constexpr (std::is_same_v<Value, ValueMoments>) {
      status = ValidateSum(value, sum.moments);
    }
    if (status.ok()) return;
    status = absl::InvalidArgumentError(absl::StrCat(
        field.name(), " cannot be added to the others: ", status.message()));
  });
  return status;
}

absl::Status Tally::Add(const Message& message) {
  absl::Status status = ValidateCounters(message, {});
  if (status.ok()) status = ValidateSumWith(message);
  if (!status.ok()) return status;
  ForEachNumber(message, [&](const FieldDescriptor& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, int64_t>) {
      base::SaturatingAddTo(count(field.number()), value);
    } else if constexpr (std::is_same_v<Value, Histogram>) {
      // Adding valid histograms cannot fail.
      AddHistogram(value, histogram(field.number())).IgnoreError();
    } else if constexpr (std::is_same_v<Value, ValueMoments>) {
      AddMoments(value, moments(field.number()));
    }
  });
  return status;
}

void Tally::Encode(Message& message) const {
  message.Clear();
  for (int i = 0; i < type_.field_count(); ++i) {
    const int number = type_.field(i)->number();
    const Field& field = fields_[number];
    if (type_.field(i)->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      EncodeField(field.count, number, message);
    } else if (field.histogram != nullptr) {
      EncodeField(*field.histogram, number, message);
    } else {
      EncodeField(field.moments, number, message);
    }
  }
}

}  // namespace distbench::results
