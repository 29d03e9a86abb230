#include "test_builder/parameters/arrivals_text.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kMaxSteps = 1000;

// The values of a piece, after its word.
class PieceValues {
 public:
  explicit PieceValues(std::vector<std::string> values)
      : values_(std::move(values)) {}

  size_t count() const { return values_.size(); }
  const std::string& Text(size_t i) const { return values_[i]; }
  double Number(size_t i) {
    double number = 0;
    is_valid_ &= absl::SimpleAtod(values_[i], &number);
    return number;
  }
  int64_t Integer(size_t i) {
    int64_t number = 0;
    is_valid_ &= absl::SimpleAtoi(values_[i], &number);
    return number;
  }
  void Require(bool condition) { is_valid_ &= condition; }
  bool is_valid() const { return is_valid_; }

 private:
  const std::vector<std::string> values_;
  bool is_valid_ = true;
};

void AddGamma(PieceValues& values, Arrivals& arrivals) {
  arrivals.set_process("gamma");
  arrivals.set_coefficient_of_variation(values.Number(0));
}

void AddKept(PieceValues& values, Arrivals& arrivals) {
  arrivals.set_kept_share(values.Number(0));
}

void AddSine(PieceValues& values, Arrivals& arrivals) {
  SineRate& sine = *arrivals.add_modulations()->mutable_sine();
  sine.set_period(values.Text(0));
  sine.set_amplitude(values.Number(1));
}

void AddOnOff(PieceValues& values, Arrivals& arrivals) {
  OnOffRate& on_off = *arrivals.add_modulations()->mutable_on_off();
  on_off.set_on(values.Text(0));
  on_off.set_off(values.Text(1));
}

void AddRandomOnOff(PieceValues& values, Arrivals& arrivals) {
  AddOnOff(values, arrivals);
  arrivals.mutable_modulations()->rbegin()->mutable_on_off()->set_times(
      "exponential");
}

void AddBursts(PieceValues& values, Arrivals& arrivals) {
  MarkovRate& markov = *arrivals.add_modulations()->mutable_markov();
  RateState& burst = *markov.add_states();
  burst.set_factor(values.Number(0));
  burst.set_mean_duration(values.Text(1));
  markov.add_states()->set_mean_duration(values.Text(2));
}

void AddRamp(PieceValues& values, Arrivals& arrivals) {
  RateSegment& ramp =
      *arrivals.add_modulations()->mutable_schedule()->add_segments();
  ramp.set_factor(values.Number(0));
  ramp.set_to_factor(values.Number(1));
  ramp.set_duration(values.Text(2));
}

void AddSteps(PieceValues& values, Arrivals& arrivals) {
  const double from = values.Number(0);
  const double to = values.Number(1);
  const int64_t count = values.Integer(2);
  values.Require(count >= 2 && count <= kMaxSteps);
  if (!values.is_valid()) return;
  RateSchedule& schedule = *arrivals.add_modulations()->mutable_schedule();
  for (int64_t i = 0; i < count; ++i) {
    RateSegment& step = *schedule.add_segments();
    step.set_factor(from + (to - from) * static_cast<double>(i) /
                               static_cast<double>(count - 1));
    step.set_duration(values.Text(3));
  }
}

struct Piece {
  const char* word;
  const char* values;  // for help
  size_t value_count;
  void (*add)(PieceValues& values, Arrivals& arrivals);
};

void SetConstant(PieceValues&, Arrivals& arrivals) {
  arrivals.set_process("constant");
}

void SetExponential(PieceValues&, Arrivals& arrivals) {
  arrivals.set_process("exponential");
}

void StartAtRandom(PieceValues&, Arrivals& arrivals) {
  arrivals.set_client_phase("random");
}

void StartSpread(PieceValues&, Arrivals& arrivals) {
  arrivals.set_client_phase("spread");
}

constexpr Piece kPieces[] = {
    {"constant", "", 0, SetConstant},
    {"exponential", "", 0, SetExponential},
    {"gamma", ":VARIATION", 1, AddGamma},
    {"kept", ":SHARE", 1, AddKept},
    {"sine", ":PERIOD:AMPLITUDE", 2, AddSine},
    {"on_off", ":ON:OFF", 2, AddOnOff},
    {"random_on_off", ":ON:OFF", 2, AddRandomOnOff},
    {"bursts", ":FACTOR:BURST:CALM", 3, AddBursts},
    {"ramp", ":FROM:TO:TIME", 3, AddRamp},
    {"steps", ":FROM:TO:COUNT:EACH", 4, AddSteps},
    {"random_phase", "", 0, StartAtRandom},
    {"spread_phase", "", 0, StartSpread},
};

absl::Status AddPiece(absl::string_view text, Arrivals& arrivals) {
  std::vector<std::string> values = absl::StrSplit(text, ':');
  const std::string word = values.front();
  values.erase(values.begin());
  for (const Piece& piece : kPieces) {
    if (word != piece.word) continue;
    PieceValues given(std::move(values));
    if (given.count() == piece.value_count) {
      piece.add(given, arrivals);
      if (given.is_valid()) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" must be ", piece.word, piece.values));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", word, "\" is none of ", ArrivalsSyntax()));
}

// Modulations are multiplied; all else can be given only once.
bool HaveInCommon(const Arrivals& a, const Arrivals& b) {
  return (a.has_process() && b.has_process()) ||
         (a.has_kept_share() && b.has_kept_share()) ||
         (a.has_client_phase() && b.has_client_phase());
}

}  // namespace

absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text) {
  Arrivals arrivals;
  for (absl::string_view piece : absl::StrSplit(text, '+')) {
    Arrivals part;
    if (absl::Status added = AddPiece(piece, part); !added.ok()) return added;
    if (HaveInCommon(arrivals, part)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", piece,
                       "\" replaces an earlier piece of its kind; "
                       "leave one of them out"));
    }
    arrivals.MergeFrom(part);
  }
  return arrivals;
}

std::string ArrivalsSyntax() {
  return absl::StrJoin(kPieces, ", ", [](std::string* out, const Piece& piece) {
    absl::StrAppend(out, piece.word, piece.values);
  });
}

}  // namespace distbench::test_builder
