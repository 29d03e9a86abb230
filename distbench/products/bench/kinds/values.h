// Named values of jobs: their parameters, and what they found.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// The unit of numbers that ValuesText() shortens as those of memory.
inline constexpr char kBytes[] = "bytes";

using BenchValues = google::protobuf::RepeatedPtrField<BenchValue>;

void AddNumber(absl::string_view name, double number, BenchValues& values,
               absl::string_view unit = "");
void AddText(absl::string_view name, absl::string_view text,
             BenchValues& values);

// Removes all values of that name.
void RemoveValue(absl::string_view name, BenchValues& values);

std::optional<double> FindNumber(const BenchValues& values,
                                 absl::string_view name);
std::string FindText(const BenchValues& values, absl::string_view name);

// The done job of this kind that is nearest before; null if there is none.
const BenchJob* NearestOf(absl::string_view kind,
                          absl::Span<const BenchJob* const> earlier);

// Adds values that a job was given by an earlier one.
void AddTaken(const BenchJob& from, const BenchValue& value,
              BenchValues& parameters);

// "a=1 b=1.2M": all values, in order.
std::string ValuesText(const BenchValues& values);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_
