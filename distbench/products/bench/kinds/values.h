// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Named values of jobs: their parameters, and what they found.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/bench/storage_sizing/storage_sizing.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/bench.pb.h"
#include "proto/experiment.pb.h"
#include "proto/results.pb.h"

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

// What iocost-params found, as named values.

inline constexpr char kIoCostDevice[] = "device";

void AddIoCost(const IoCostSettings& settings, BenchValues& values);

// The settings, enabled. Values that are absent are 0.
IoCostSettings IoCostFrom(const BenchValues& values);

// What hashd-params found, as named values.

void AddStorageSizes(const StorageSizes& sizes, BenchValues& values);

// Without the answers of the searches. What is absent in the values is absent.
StorageSizes StorageSizesFrom(const BenchValues& values);

// Records of a storage sizing, from which it can be continued and studied.

// The options that the answers depend on.
void AddSizingOptions(const SizingOptions& options, BenchValues& values);

// INVALID_ARGUMENT if one is missing or out of range.
absl::StatusOr<SizingOptions> SizingOptionsFrom(const BenchValues& values);

// Adds a probe to results.searches, which has one report for each of the
// sizing's searches.
void AddProbeRecord(const SizingProbe& probe, const search::Probe& outcome,
                    TestSequenceResults& results);

// Lets the search that the sizing ended with begin again if it found no answer;
// nothing else is left to do then. Errors are those of Replay().
absl::Status TryAgain(const SizingOptions& options,
                      TestSequenceResults& results);

// Adds the outcomes of all records to a new sizing. FAILED_PRECONDITION if they
// are not those that it asks for: other options, or damaged records.
absl::Status Replay(const TestSequenceResults& results, StorageSizing& sizing);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_VALUES_H_
