#include "distbench/config/validate/quantities.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/validate/test_validation.h"
#include "google/protobuf/descriptor.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Returns 0 for intervals below a nanosecond, which would double some rates if
// they were rounded. Limits long intervals, for which an int64_t has no room.
absl::StatusOr<int64_t> IntervalNs(absl::string_view text) {
  const absl::StatusOr<double> rate = ParseRateWithUnit(text);
  if (!rate.ok()) return rate.status();
  const double interval_ns = 1e9 / *rate;
  if (interval_ns < 1) return 0;
  return std::llround(std::min(interval_ns, 1e18));
}

absl::StatusOr<int64_t> DurationNs(absl::string_view text) {
  const auto duration = ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  return absl::ToInt64Nanoseconds(*duration);
}

absl::StatusOr<int64_t> DurationUs(absl::string_view text) {
  const auto duration = ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  if (*duration % absl::Microseconds(1) != absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not a whole number of microseconds"));
  }
  return absl::ToInt64Microseconds(*duration);
}

constexpr char kTimesUs[] = "1us to 277777h";
constexpr char kTimesNs[] = "0s to 277777h";
static_assert(kMaxTimeNs > 277'777 * 3'600'000'000'000 &&
              kMaxTimeNs < 277'778 * 3'600'000'000'000);

constexpr Quantity kOfIterations[] = {
    {Iterations::kRateFieldNumber, Iterations::kOpenLoopIntervalNsFieldNumber,
     IntervalNs, 1, kMaxIntervalNs, "0.0036/h to 1000M/s"},
    {Iterations::kMaxDurationFieldNumber, Iterations::kMaxDurationUsFieldNumber,
     DurationUs, 1, kMaxTimeUs, kTimesUs},
    {Iterations::kWarmupFieldNumber, Iterations::kWarmupNsFieldNumber,
     DurationNs, 0, kMaxTimeNs, kTimesNs}};

constexpr Quantity kOfRpc[] = {{RpcSpec::kDeadlineFieldNumber,
                                RpcSpec::kDeadlineUsFieldNumber, DurationUs, 1,
                                kMaxTimeUs, kTimesUs}};

constexpr Quantity kOfStream[] = {{StreamSpec::kClientIntervalFieldNumber,
                                   StreamSpec::kClientIntervalNsFieldNumber,
                                   DurationNs, 1, kMaxDelayNs, "1ns to 277h"},
                                  {StreamSpec::kServerIntervalFieldNumber,
                                   StreamSpec::kServerIntervalNsFieldNumber,
                                   DurationNs, 1, kMaxDelayNs, "1ns to 277h"}};
static_assert(kMaxDelayNs > 277 * 3'600'000'000'000 &&
              kMaxDelayNs < 278 * 3'600'000'000'000);

constexpr char kPolicyTimes[] = "1ns to 277777h";

constexpr Quantity kOfPolicy[] = {{CallPolicy::kAttemptDeadlineFieldNumber,
                                   CallPolicy::kAttemptDeadlineNsFieldNumber,
                                   DurationNs, 1, kMaxTimeNs, kPolicyTimes}};

constexpr Quantity kOfRetry[] = {
    {RetryPolicy::kInitialBackoffFieldNumber,
     RetryPolicy::kInitialBackoffNsFieldNumber, DurationNs, 0, kMaxTimeNs,
     kTimesNs},
    {RetryPolicy::kMaxBackoffFieldNumber, RetryPolicy::kMaxBackoffNsFieldNumber,
     DurationNs, 0, kMaxTimeNs, kTimesNs}};

constexpr Quantity kOfBudget[] = {{RetryBudget::kWindowFieldNumber,
                                   RetryBudget::kWindowNsFieldNumber,
                                   DurationNs, 1, kMaxTimeNs, kPolicyTimes}};

constexpr Quantity kOfHedging[] = {{HedgingPolicy::kDelayFieldNumber,
                                    HedgingPolicy::kDelayNsFieldNumber,
                                    DurationNs, 0, kMaxTimeNs, kTimesNs}};

constexpr Quantity kOfCircuitBreaker[] = {
    {CircuitBreakerPolicy::kWindowFieldNumber,
     CircuitBreakerPolicy::kWindowNsFieldNumber, DurationNs, 1, kMaxTimeNs,
     kPolicyTimes},
    {CircuitBreakerPolicy::kOpenFieldNumber,
     CircuitBreakerPolicy::kOpenNsFieldNumber, DurationNs, 1, kMaxTimeNs,
     kPolicyTimes}};

constexpr Quantity kOfPayload[] = {
    {PayloadSpec::kSizeWithUnitFieldNumber, PayloadSpec::kSizeFieldNumber,
     ParseSizeWithUnit, 0, kMaxSizeBytes, "0B to 2147483647B"}};

constexpr Quantity kOfSine[] = {{SineRate::kPeriodFieldNumber,
                                 SineRate::kPeriodNsFieldNumber, DurationNs,
                                 1'000'000, kMaxTimeNs, "1ms to 277777h"}};

constexpr char kModulationTimes[] = "1us to 277777h";

constexpr Quantity kOfOnOff[] = {
    {OnOffRate::kOnFieldNumber, OnOffRate::kOnNsFieldNumber, DurationNs, 1000,
     kMaxTimeNs, kModulationTimes},
    {OnOffRate::kOffFieldNumber, OnOffRate::kOffNsFieldNumber, DurationNs, 1000,
     kMaxTimeNs, kModulationTimes}};

constexpr Quantity kOfSegment[] = {
    {RateSegment::kDurationFieldNumber, RateSegment::kDurationNsFieldNumber,
     DurationNs, 1000, kMaxTimeNs, kModulationTimes}};

constexpr Quantity kOfState[] = {
    {RateState::kMeanDurationFieldNumber, RateState::kMeanDurationNsFieldNumber,
     DurationNs, 1000, kMaxTimeNs, kModulationTimes}};

constexpr Quantity kOfServerFault[] = {
    {ServerFault::kStartFieldNumber, ServerFault::kStartNsFieldNumber,
     DurationNs, 0, kMaxTimeNs, kTimesNs},
    {ServerFault::kDurationFieldNumber, ServerFault::kDurationNsFieldNumber,
     DurationNs, 1, kMaxTimeNs, "1ns to 277777h"},
    {ServerFault::kRepeatFieldNumber, ServerFault::kRepeatNsFieldNumber,
     DurationNs, kMinFaultRepeatNs, kMaxTimeNs, "1ms to 277777h"}};

absl::Span<const Quantity> QuantitiesOf(const Descriptor* type) {
  if (type == Iterations::descriptor()) return kOfIterations;
  if (type == SineRate::descriptor()) return kOfSine;
  if (type == OnOffRate::descriptor()) return kOfOnOff;
  if (type == RateSegment::descriptor()) return kOfSegment;
  if (type == RateState::descriptor()) return kOfState;
  if (type == RpcSpec::descriptor()) return kOfRpc;
  if (type == StreamSpec::descriptor()) return kOfStream;
  if (type == CallPolicy::descriptor()) return kOfPolicy;
  if (type == RetryPolicy::descriptor()) return kOfRetry;
  if (type == RetryBudget::descriptor()) return kOfBudget;
  if (type == HedgingPolicy::descriptor()) return kOfHedging;
  if (type == CircuitBreakerPolicy::descriptor()) return kOfCircuitBreaker;
  if (type == PayloadSpec::descriptor()) return kOfPayload;
  if (type == ServerFault::descriptor()) return kOfServerFault;
  return {};
}

// A quantity that a message has.
class GivenQuantity {
 public:
  GivenQuantity(const Quantity& quantity, const Message& message)
      : quantity_(quantity),
        text_field_(Field(message, quantity.text_field)),
        number_field_(Field(message, quantity.number_field)),
        message_(message) {}

  bool HasText() const { return Has(text_field_); }
  bool HasNumber() const { return Has(number_field_); }
  const FieldDescriptor* text_field() const { return text_field_; }
  const FieldDescriptor* number_field() const { return number_field_; }

  absl::StatusOr<int64_t> Number() const {
    const std::string text =
        message_.GetReflection()->GetString(message_, text_field_);
    const absl::StatusOr<int64_t> number = quantity_.parse(text);
    if (!number.ok()) return number.status();
    if (*number < quantity_.minimum || *number > quantity_.maximum) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quoted(text), " is out of range; must be from ", quantity_.range));
    }
    return number;
  }

 private:
  static const FieldDescriptor* Field(const Message& message, int number) {
    return message.GetDescriptor()->FindFieldByNumber(number);
  }

  bool Has(const FieldDescriptor* field) const {
    return message_.GetReflection()->HasField(message_, field);
  }

  const Quantity& quantity_;
  const FieldDescriptor* const text_field_;
  const FieldDescriptor* const number_field_;
  const Message& message_;
};

}  // namespace

Quantity TimeUs(int text_field, int number_field) {
  return {text_field, number_field, DurationUs, 1, kMaxTimeUs, kTimesUs};
}

void ReplaceQuantities(Message& message) {
  ReplaceQuantities(QuantitiesOf(message.GetDescriptor()), message);
}

void ReplaceQuantities(absl::Span<const Quantity> quantities,
                       Message& message) {
  for (const Quantity& quantity : quantities) {
    const GivenQuantity given(quantity, message);
    if (!given.HasText() || given.HasNumber()) continue;
    const absl::StatusOr<int64_t> number = given.Number();
    if (!number.ok()) continue;
    const auto* reflection = message.GetReflection();
    reflection->SetInt64(&message, given.number_field(), *number);
    reflection->ClearField(&message, given.text_field());
  }
}

void CheckQuantities(const Message& message, const Path& path,
                     Problems& problems) {
  CheckQuantities(QuantitiesOf(message.GetDescriptor()), message, path,
                  problems);
}

void CheckQuantities(absl::Span<const Quantity> quantities,
                     const Message& message, const Path& path,
                     Problems& problems) {
  for (const Quantity& quantity : quantities) {
    const GivenQuantity given(quantity, message);
    if (!given.HasText()) continue;
    if (given.HasNumber()) {
      problems.Add(
          path, absl::StrCat("has both ", given.text_field()->name(), " and ",
                             given.number_field()->name(), "; give one"));
    }
    const absl::StatusOr<int64_t> number = given.Number();
    if (number.ok()) continue;
    problems.Add(path.Field(given.text_field()->name()),
                 std::string(number.status().message()));
  }
}

}  // namespace distbench::config
