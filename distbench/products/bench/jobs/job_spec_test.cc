// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/job_spec.h"

#include <random>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::vector<JobDeclaration>& Declarations() {
  static const auto& declarations = *new std::vector<JobDeclaration>{
      {"run",
       "Runs tests",
       {{"infile", PropertyType::kText, "The config", "", true},
        {"slo", PropertyType::kText, "An objective"}}},
      {"iocost-params",
       "Measures a device",
       {{"size", PropertyType::kSize, "Of the file", "1GiB"},
        {"runtime", PropertyType::kDuration, "Of a phase", "10s"},
        {"depth", PropertyType::kCount, "Threads", "64"},
        {"margin", PropertyType::kNumber, "A factor", "1.5"},
        {"sync", PropertyType::kFlag, "Sync", "false"}}},
  };
  return declarations;
}

absl::StatusOr<JobSpec> Parse(absl::string_view text) {
  return ParseJobSpec(text, Declarations());
}

std::string ErrorOf(absl::string_view text) {
  return base::Message(Parse(text).status());
}

TEST(JobSpecTest, ReadsTheSessionOfTheManual) {
  const auto spec = Parse("iocost-params:id=iocost-off,passive=io");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->kind, "iocost-params");
  EXPECT_EQ(spec->id, "iocost-off");
  EXPECT_THAT(spec->passive, ElementsAre("io"));
  EXPECT_EQ(spec->repeat, 1);
  EXPECT_FALSE(spec->keep_going);
}

TEST(JobSpecTest, AKindAloneIsAJob) {
  const auto spec = Parse("iocost-params");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_TRUE(spec->properties.empty());
}

TEST(JobSpecTest, AColonOrAnEqualSignInAValueIsPartOfIt) {
  const auto spec = Parse("run:infile=a:b=c,slo=q p99<=2ms");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->properties,
              ElementsAre(Pair("infile", "a:b=c"), Pair("slo", "q p99<=2ms")));
}

TEST(JobSpecTest, QuotesProtectCommasQuotesAndBackslashes) {
  const auto spec = Parse(R"(run:infile="a,\"b\\",repeat=3)");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->properties, ElementsAre(Pair("infile", R"(a,"b\)")));
  EXPECT_EQ(spec->repeat, 3);
}

TEST(JobSpecTest, SeveralControllersCanBePassive) {
  const auto spec = Parse("iocost-params:passive=mem+cpu+mem");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->passive, ElementsAre("cpu", "mem"));
}

TEST(JobSpecTest, ErrorsNameThePlaceTheProblemAndTheRemedy) {
  EXPECT_THAT(ErrorOf("iocost-param"),
              AllOf(HasSubstr("job \"iocost-param\""),
                    HasSubstr("did you mean \"iocost-params\"?")));
  EXPECT_THAT(ErrorOf("run:infil=x"),
              AllOf(HasSubstr("run has no property \"infil\""),
                    HasSubstr("did you mean \"infile\"?")));
  EXPECT_THAT(ErrorOf("run:infile=x,keepgoing=true"),
              HasSubstr("did you mean \"keep_going\"?"));
  EXPECT_THAT(ErrorOf("run"), HasSubstr("needs infile=: The config"));
  EXPECT_THAT(ErrorOf("run:infile=x,infile=y"),
              HasSubstr("infile is given twice"));
  EXPECT_THAT(ErrorOf("run:infile="), HasSubstr("infile has no value"));
  EXPECT_THAT(ErrorOf("run:"), HasSubstr("expected KEY=VALUE at the end"));
  EXPECT_THAT(ErrorOf("run:infile=x,"), HasSubstr("expected KEY=VALUE"));
  EXPECT_THAT(ErrorOf("run:x"), HasSubstr("expected KEY=VALUE at \"x\""));
  EXPECT_THAT(ErrorOf("run:infile=a\"b"), HasSubstr("in the middle"));
  EXPECT_THAT(ErrorOf("run:infile=\"a"), HasSubstr("closing double quote"));
  EXPECT_THAT(ErrorOf("run:infile=\"a\\n\""), HasSubstr("stray backslash"));
  EXPECT_THAT(ErrorOf("run:infile=\"a\"b"), HasSubstr("expected a comma"));
  EXPECT_THAT(ErrorOf("run:infile=x,id=a b"), HasSubstr("use letters"));
  EXPECT_THAT(ErrorOf("run:infile=x,passive=disk"),
              HasSubstr("no controller is named \"disk\""));
}

TEST(JobSpecTest, ValuesHaveTheTypeOfTheirProperty) {
  EXPECT_THAT(ErrorOf("iocost-params:size=1"), HasSubstr("such as 1GiB"));
  EXPECT_THAT(ErrorOf("iocost-params:size=0B"), HasSubstr("such as 1GiB"));
  EXPECT_THAT(ErrorOf("iocost-params:runtime=0s"), HasSubstr("such as 10s"));
  EXPECT_THAT(ErrorOf("iocost-params:depth=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(ErrorOf("iocost-params:depth=1.5"), HasSubstr("from 1 to"));
  EXPECT_THAT(ErrorOf("iocost-params:margin=inf"),
              HasSubstr("positive number"));
  EXPECT_THAT(ErrorOf("iocost-params:margin=-1"), HasSubstr("positive number"));
  EXPECT_THAT(ErrorOf("iocost-params:sync=yes"), HasSubstr("true or false"));
  EXPECT_THAT(ErrorOf("iocost-params:repeat=99999"), HasSubstr("from 1 to"));
}

TEST(PropertyValuesTest, GivesTheValueOrTheDefault) {
  const JobDeclaration& declaration = Declarations()[1];
  const PropertyValues values(declaration,
                              {{"runtime", "2s"}, {"sync", "true"}});
  EXPECT_EQ(values.Duration("runtime"), absl::Seconds(2));
  EXPECT_EQ(values.Size("size"), int64_t{1} << 30);
  EXPECT_EQ(values.Count("depth"), 64);
  EXPECT_EQ(values.Number("margin"), 1.5);
  EXPECT_TRUE(values.Flag("sync"));
  EXPECT_EQ(values.Number("absent"), std::nullopt);
}

// Random jobs survive the way through text, whatever their values contain.
TEST(JobSpecTest, TextIsReadBackAsTheSameJob) {
  std::mt19937 random(1);
  const std::string alphabet = "ab,\"\\=:+ \xc3\xa9";
  for (int round = 0; round < 5000; ++round) {
    JobSpec spec;
    spec.kind = "run";
    for (const char* name : {"infile", "slo"}) {
      const int length = 1 + random() % 8;
      std::string& value = spec.properties[name];
      for (int i = 0; i < length; ++i) {
        value += alphabet[random() % alphabet.size()];
      }
    }
    if (random() % 2 == 0) spec.id = "x-1";
    if (random() % 2 == 0) spec.passive = {"cpu", "io"};
    spec.repeat = 1 + random() % 3;
    spec.keep_going = random() % 2 == 0;
    const absl::StatusOr<JobSpec> read = Parse(ToText(spec));
    ASSERT_TRUE(read.ok()) << ToText(spec) << ": " << read.status();
    EXPECT_EQ(*read, spec) << ToText(spec);
  }
}

// Any text gives a job that can be written and read again, or an error.
TEST(JobSpecTest, NoTextIsMisread) {
  std::mt19937 random(2);
  const std::vector<std::string> pieces = {
      "run", ":",  "infile", "=",  ",",       "\"",    "\\",
      "x",   "id", "repeat", "10", "passive", "all+x", "é"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = "run:infile=";
    for (int i = random() % 10; i > 0; --i) {
      text += pieces[random() % pieces.size()];
    }
    const absl::StatusOr<JobSpec> spec = Parse(text);
    if (!spec.ok()) {
      EXPECT_FALSE(spec.status().message().empty());
      continue;
    }
    const absl::StatusOr<JobSpec> again = Parse(ToText(*spec));
    ASSERT_TRUE(again.ok()) << text << ": " << again.status();
    EXPECT_EQ(*again, *spec) << text;
  }
}

}  // namespace
}  // namespace distbench::bench
