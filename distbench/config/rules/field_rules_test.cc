// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules of fields, as proto/*.proto has them: that they are sound, and
// agree with what the program knows besides.

#include "distbench/config/rules/field_rules.h"

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/rules/type_rules.h"
#include "distbench/config/validate/test_validation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

FieldRules RulesOfField(const Descriptor* type, const std::string& field) {
  for (const FieldRule& rule : RulesOf(type).fields) {
    if (rule.field->name() == field) return rule.rules;
  }
  ADD_FAILURE() << type->name() << "." << field << " has no rules";
  return {};
}

void AddTypes(const Descriptor* type, std::set<const Descriptor*>& types) {
  if (!types.insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->message_type() != nullptr) {
      AddTypes(type->field(i)->message_type(), types);
    }
  }
}

std::set<const Descriptor*> TypesOfTests() {
  std::set<const Descriptor*> types;
  AddTypes(DistributedSystemDescription::descriptor(), types);
  return types;
}

TEST(FieldRules, NameFieldsThatThereAre) {
  const Descriptor* const test = DistributedSystemDescription::descriptor();
  for (const Descriptor* type : TypesOfTests()) {
    for (const FieldRule& rule : RulesOf(type).fields) {
      std::vector<std::string> others = {
          rule.rules.text_of(), rule.rules.channel_of(), rule.rules.excludes(),
          rule.rules.not_with(), rule.rules.needs()};
      absl::c_copy(rule.rules.unless(), std::back_inserter(others));
      for (const std::string& other : others) {
        EXPECT_TRUE(other.empty() || type->FindFieldByName(other) != nullptr)
            << rule.field->full_name() << ": " << other;
      }
      if (!rule.rules.has_refers_to()) continue;
      const FieldDescriptor* const list =
          test->FindFieldByName(rule.rules.refers_to());
      ASSERT_NE(list, nullptr) << rule.field->full_name();
      EXPECT_FALSE(RulesOfField(test, list->name()).element().empty());
    }
  }
}

// The values that a condition may ask for: a misspelt one would never hold.
std::set<std::string> ValuesOf(const FieldDescriptor& field) {
  // Of texts whose rules have no words.
  static const auto* const kTexts =
      new std::map<std::string, std::set<std::string>>{
          {"distbench.Antagonist.activity", {"incast"}},
          {"distbench.IoLimit.read_bytes", {"0B"}},
          {"distbench.IoLimit.write_bytes", {"0B"}},
          {"distbench.RateModulation.client_phase",
           {"none", "random", "spread"}}};
  const auto found = kTexts->find(field.full_name());
  if (found != kTexts->end()) return found->second;
  std::set<std::string> values;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return {"false", "true"};
    case FieldDescriptor::CPPTYPE_ENUM:
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        values.insert(field.enum_type()->value(i)->name());
      }
      return values;
    case FieldDescriptor::CPPTYPE_STRING: {
      const FieldRules rules =
          RulesOfField(field.containing_type(), field.name());
      values = {rules.words().begin(), rules.words().end()};
      values.insert(field.default_value_string());
      return values;
    }
    default:
      return {"0", "4", "6"};  // the only numbers that conflicts ask for
  }
}

TEST(FieldRules, ConditionsAskForValuesThatThereAre) {
  int conditions = 0;
  for (const Descriptor* type : TypesOfTests()) {
    for (const ConflictRule& conflict : RulesOf(type).conflicts) {
      EXPECT_FALSE(conflict.problem.empty()) << type->full_name();
      for (const std::vector<Condition>& alternatives : conflict.when) {
        for (const Condition& condition : alternatives) {
          for (const std::string& value : condition.values) {
            ASSERT_NE(condition.field, nullptr) << type->full_name();
            EXPECT_FALSE(condition.field->is_repeated());
            EXPECT_EQ(ValuesOf(*condition.field).count(value), 1)
                << condition.field->full_name() << ": " << value;
            ++conditions;
          }
        }
      }
    }
  }
  EXPECT_GT(conditions, 0);
}

TEST(FieldRules, AreOfTheirTypesOfFields) {
  for (const Descriptor* type : TypesOfTests()) {
    for (const FieldRule& rule : RulesOf(type).fields) {
      const std::string& name = rule.field->full_name();
      const FieldRules& rules = rule.rules;
      const bool is_text =
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      const bool is_fraction =
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
      EXPECT_EQ(is_fraction && rule.has_rules,
                (rules.has_at_least() || rules.has_above()) &&
                    (rules.has_at_most() || rules.has_below()))
          << name;
      EXPECT_TRUE(is_text || (rules.words().empty() && !rules.has_text_of() &&
                              !rules.has_refers_to() && !rules.index_list() &&
                              !rules.has_host_amount()))
          << name;
      EXPECT_TRUE(is_text || !rules.empty_is_default() ||
                  rule.field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL)
          << name;
      EXPECT_LE(rules.min(), rules.max()) << name;
      if (rule.number == nullptr) continue;
      EXPECT_EQ(rule.number->cpp_type(), FieldDescriptor::CPPTYPE_INT64);
    }
  }
}

TEST(FieldRules, AgreeWithConstants) {
  EXPECT_EQ(RulesOfField(PayloadSpec::descriptor(), "size").max(),
            kMaxSizeBytes);
  EXPECT_EQ(RulesOfField(ServiceSpec::descriptor(), "x_size").max(),
            kMaxInstances);
  EXPECT_EQ(
      RulesOfField(Iterations::descriptor(), "open_loop_interval_ns").max(),
      kMaxIntervalNs);
  EXPECT_EQ(RulesOfField(ControlSet::descriptor(), "name").max_length(),
            kMaxNameLength);
}

// Of the field with this number, from the first one.
template <typename Type>
std::vector<std::string> WordsOf(int field_number) {
  const auto& words = Type::descriptor()
                          ->FindFieldByNumber(field_number)
                          ->options()
                          .GetExtension(distbench::rules)
                          .words();
  return {words.begin(), words.end()};
}

TEST(FieldRules, HaveTheirWordsInTheOrderOfTheEnums) {
  static_assert(int(LoadBalancing::kRoundRobin) == 0 &&
                int(LoadBalancing::kRandom) == 1 &&
                int(LoadBalancing::kTwoChoices) == 2 &&
                int(LoadBalancing::kLeastInFlight) == 3);
  EXPECT_THAT(
      WordsOf<CallPolicy>(CallPolicy::kLoadBalancingFieldNumber),
      ElementsAre("round_robin", "random", "two_choices", "least_in_flight"));
  EXPECT_THAT(WordsOf<RetryPolicy>(RetryPolicy::kJitterFieldNumber),
              ElementsAre("full", "equal", "none"));
  EXPECT_THAT(
      WordsOf<ConcurrencyLimitPolicy>(ConcurrencyLimitPolicy::kKindFieldNumber),
      ElementsAre("fixed", "aimd", "gradient"));
  EXPECT_THAT(WordsOf<QuorumPolicy>(QuorumPolicy::kRestFieldNumber),
              ElementsAre("cancel", "ignore"));
  static_assert(int(StreamPlan::Start::kOnFirstRequest) == 0 &&
                int(StreamPlan::Start::kOnLastRequest) == 1 &&
                int(StreamPlan::Start::kEcho) == 2);
  EXPECT_THAT(WordsOf<StreamSpec>(StreamSpec::kResponseStartsFieldNumber),
              ElementsAre("on_first_request", "on_last_request", "echo"));
  static_assert(int(ArrivalProcess::kConstant) == 0 &&
                int(ArrivalProcess::kExponential) == 1 &&
                int(ArrivalProcess::kSyncBurst) == 2 &&
                int(ArrivalProcess::kSyncBurstSpread) == 3);
  EXPECT_THAT(
      WordsOf<Iterations>(Iterations::kOpenLoopIntervalDistributionFieldNumber),
      ElementsAre("constant", "exponential", "sync_burst",
                  "sync_burst_spread"));
  using Process = ArrivalSourcePlan::Process;
  static_assert(int(Process::kConstant) == 0 &&
                int(Process::kExponential) == 1 && int(Process::kGamma) == 2 &&
                int(Process::kRecorded) == 3);
  EXPECT_THAT(WordsOf<Arrivals>(Arrivals::kProcessFieldNumber),
              ElementsAre("constant", "exponential", "gamma", "recorded"));
  static_assert(int(WireClock::kSoftware) == 0 &&
                int(WireClock::kHardware) == 1);
  EXPECT_THAT(WordsOf<WireTimeSpec>(WireTimeSpec::kClockFieldNumber),
              ElementsAre("software", "hardware"));
}

TEST(FieldRules, WordsHaveTheNumbersOfTheirPositions) {
  RetryPolicy retry;
  EXPECT_EQ(WordNumber(retry, RetryPolicy::kJitterFieldNumber), 0);
  retry.set_jitter("none");
  EXPECT_EQ(WordNumber(retry, RetryPolicy::kJitterFieldNumber), 2);
}

// Results keep configs as they were given, and these are compiled again.
TEST(FieldRules, EmptyWordsAreDefaults) {
  Arrivals arrivals;
  arrivals.set_process("");
  EXPECT_EQ(WordNumber(arrivals, Arrivals::kProcessFieldNumber),
            static_cast<int>(ArrivalSourcePlan::Process::kExponential));
}

TEST(FieldRules, ErrorCodesAreThoseOfFailures) {
  RetryPolicy retry;
  retry.add_codes("CANCELLED");
  retry.add_codes("UNAUTHENTICATED");
  Problems problems;
  CheckFields(retry, Path("r"), nullptr, problems);
  EXPECT_EQ(problems.count(), 0);
  for (const char* wrong : {"UNAVAILABEL", "OK", "", "unavailable ", "14"}) {
    retry.add_codes(wrong);
  }
  CheckFields(retry, Path("r"), nullptr, problems);
  EXPECT_EQ(problems.count(), 5);
  EXPECT_EQ(
      std::move(problems).Take()[0],
      (Problem{"r.codes[2]",
               "\"UNAVAILABEL\" is not the code of an error; did you mean "
               "\"UNAVAILABLE\"?"}));
}

TEST(FieldRules, ReferencesNeedTheNamesOfATest) {
  Action action;
  action.set_rpc_name("query");
  Problems problems;
  CheckFields(action, Path("a"), nullptr, problems);
  EXPECT_EQ(problems.count(), 0);
  const TestNames names{DistributedSystemDescription()};
  CheckFields(action, Path("a"), &names, problems);
  EXPECT_THAT(std::move(problems).Take(),
              ElementsAre(Problem{
                  "a.rpc_name", "no RPC is named \"query\"; there are none"}));
}

std::vector<Problem> ProblemsOf(const google::protobuf::Message& message) {
  Problems problems;
  CheckFields(message, Path("m"), nullptr, problems);
  return std::move(problems).Take();
}

TEST(FieldRules, AConflictNeedsAllOfItsConditions) {
  NumaBinding binding;
  binding.set_memory_nodes("0");
  EXPECT_THAT(ProblemsOf(binding), IsEmpty());
  binding.set_memory_policy(NumaBinding::LOCAL);
  EXPECT_THAT(ProblemsOf(binding),
              ElementsAre(Field(&Problem::path, "m.memory_nodes")));
  EXPECT_FALSE(IsRight(binding, "memory_nodes"));
  EXPECT_TRUE(IsRight(binding, "memory_policy"));
  binding.set_memory_policy(NumaBinding::BIND);
  EXPECT_THAT(ProblemsOf(binding), IsEmpty());
}

// A quantity is given by its number or by its text, right or wrong.
TEST(FieldRules, QuantitiesAreGivenInEitherForm) {
  HedgingPolicy hedging;
  EXPECT_THAT(ProblemsOf(hedging), ElementsAre(Field(&Problem::path, "m")));
  hedging.set_delay_ns(5);
  EXPECT_THAT(ProblemsOf(hedging), IsEmpty());
  hedging.clear_delay_ns();
  for (const char* wrong : {"soon", ""}) {
    hedging.set_delay(wrong);
    EXPECT_THAT(ProblemsOf(hedging),
                ElementsAre(Field(&Problem::path, "m.delay")));
  }
}

TEST(FieldRules, OneAlternativeOfAConditionIsEnough) {
  ConcurrencyLimitPolicy limit;
  EXPECT_THAT(ProblemsOf(limit), IsEmpty());
  limit.set_max_limit(5);  // the kind is fixed by default
  EXPECT_THAT(ProblemsOf(limit), ElementsAre(Field(&Problem::path, "m")));
  limit.set_min_limit(4);
  EXPECT_THAT(ProblemsOf(limit), ElementsAre(Field(&Problem::path, "m")));
  limit.set_limit(5);
  limit.set_kind("gradient");
  EXPECT_THAT(ProblemsOf(limit), IsEmpty());
}

// The last digits of large numbers count.
TEST(FieldRules, ConditionsCompareNumbersOrTheirDefaults) {
  RetryPolicy retry;
  retry.set_initial_backoff_ns(1'000'000'000);
  EXPECT_THAT(ProblemsOf(retry), IsEmpty());
  retry.set_initial_backoff_ns(1'000'000'001);
  EXPECT_THAT(
      ProblemsOf(retry),
      ElementsAre(Problem{"m.initial_backoff",
                          "1000000001 ns is above max_backoff, 1000000000 ns; "
                          "lower it or raise max_backoff"}));
  DataPoint point;
  point.set_lower(int64_t{1} << 60);
  point.set_upper(int64_t{1} << 60);
  EXPECT_THAT(ProblemsOf(point), IsEmpty());
  point.set_upper((int64_t{1} << 60) - 1);
  EXPECT_THAT(ProblemsOf(point), ElementsAre(Field(&Problem::path, "m")));
}

TEST(FieldRules, EachOfSeveralFieldsOfAConflictIsWrong) {
  ServiceSpec service;
  service.set_count(1);
  service.mutable_admission()->set_max_running(1);
  service.mutable_numa_binding();
  EXPECT_THAT(ProblemsOf(service), IsEmpty());
  service.mutable_external()->add_addresses("cache:1");
  EXPECT_THAT(ProblemsOf(service),
              ElementsAre(Field(&Problem::path, "m.numa_binding"),
                          Field(&Problem::path, "m.admission")));
}

std::vector<Problem> ProblemsOfTest(const DistributedSystemDescription& test) {
  Problems problems;
  CheckTest(
      test, Path("t"), TestNames(test), [](absl::string_view) { return true; },
      problems);
  return std::move(problems).Take();
}

TEST(FieldRules, ConditionsSpeakOfWhatReferencesName) {
  DistributedSystemDescription test;
  for (const char* name : {"own", "other"}) {
    ServiceSpec& service = *test.add_services();
    service.set_name(name);
    service.set_count(1);
  }
  test.mutable_services(1)->mutable_external()->add_addresses("cache:1");
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("get");
  rpc.add_client("own");
  rpc.set_server("other");
  EXPECT_THAT(
      ProblemsOfTest(test),
      ElementsAre(Problem{"t.rpc_descriptions[\"get\"].external_call",
                          "is missing; name the method of the external service "
                          "\"other\" to call"}));
  rpc.mutable_external_call();
  EXPECT_THAT(ProblemsOfTest(test), IsEmpty());
  // Each element of a list of references is looked at.
  rpc.add_client("other");
  EXPECT_THAT(ProblemsOfTest(test),
              ElementsAre(Problem{
                  "t.rpc_descriptions[\"get\"].client[1]",
                  "service \"other\" is external, and what it calls is its own "
                  "affair; name a service of the test"}));
  // What is named by nothing is reported as that alone.
  rpc.mutable_client()->RemoveLast();
  rpc.set_server("nobody");
  EXPECT_THAT(
      ProblemsOfTest(test),
      ElementsAre(Field(&Problem::path, "t.rpc_descriptions[\"get\"].server")));
}

TEST(FieldRules, ConditionsReachIntoMessages) {
  RpcSpec rpc;
  rpc.set_fanout_filter("random");
  EXPECT_THAT(ProblemsOf(rpc),
              Not(Contains(Field(&Problem::path, HasSubstr("balancing")))));
  rpc.mutable_policy()->set_load_balancing("random");
  EXPECT_THAT(ProblemsOf(rpc),
              Contains(Problem{"m.policy.load_balancing",
                               "does not go together with fanout_filter, which "
                               "chooses servers, too; remove one of them"}));
  EXPECT_TRUE(IsRight(rpc.policy(), "load_balancing"));
}

TEST(FieldRules, NamesAreUniqueInListsWithinTheTest) {
  DistributedSystemDescription test;
  ServiceSpec& service = *test.add_services();
  service.set_name("server");
  service.set_count(1);
  for (const char* name : {"a", "b", "a", ""}) {
    service.add_multi_server_channels()->set_name(name);
  }
  const std::string channels = "t.services[\"server\"].multi_server_channels";
  EXPECT_THAT(
      ProblemsOfTest(test),
      ElementsAre(
          Problem{channels + "[2].name",
                  "\"a\" is the name of multi_server_channels[0] as "
                  "well; names must be unique"},
          Problem{channels + "[3].name", "is missing; give it a name"}));
}

// An empty text in a oneof is wrong by itself.
TEST(FieldRules, EmptyTextsAreGivenInAOneof) {
  Action action;
  action.set_request_payload_override("small");
  EXPECT_THAT(ProblemsOf(action),
              ElementsAre(Field(&Problem::path, "m.request_payload_override")));
  action.set_rpc_name("");
  EXPECT_THAT(ProblemsOf(action), IsEmpty());
}

// Problems that are not kept cost nothing that grows with how many there are:
// otherwise this would take minutes, as the names on the way to each problem
// would be looked for.
TEST(FieldRules, CountManyProblems) {
  constexpr int kActions = 200'000;
  DistributedSystemDescription test;
  ServiceSpec& service = *test.add_services();
  service.set_name("server");
  service.set_count(1);
  for (int i = 0; i < kActions; ++i) {
    Action& action = *test.add_actions();
    action.set_name(absl::StrCat("action", i));
    action.set_rpc_name("query");
    action.mutable_iterations()->set_max_iteration_count(-1);
    action.mutable_iterations()->set_open_loop_interval_distribution("daily");
  }
  const TestNames names(test);
  Problems problems;
  CheckFields(test, Path("t"), &names, problems);
  EXPECT_EQ(problems.count(), 3 * kActions);
  EXPECT_EQ(std::move(problems).Take()[0].path,
            "t.actions[\"action0\"].iterations.max_iteration_count");
}

TEST(FieldRules, ReachIntoProducts) {
  DistributedSystemDescription test;
  test.mutable_search()->set_max_probes(0);
  test.mutable_search()->set_warmup("1s");
  CanonicalizeFields(test);
  EXPECT_EQ(test.search().warmup_us(), 1'000'000);
  EXPECT_FALSE(test.search().has_warmup());
  test.add_services()->set_count(1);
  EXPECT_THAT(ProblemsOf(test),
              ElementsAre(Field(&Problem::path, "m.search.max_probes")));
}

TEST(FieldRules, TextsWithSeveralFormsGetOne) {
  DistributedSystemDescription test;
  NumaBinding& binding = *test.add_services()->mutable_numa_binding();
  binding.set_cpus("3,0-2");
  binding.set_memory_nodes("nonsense");
  ControlGroup& group = *test.mutable_controls()->add_groups();
  group.set_everything_else(false);
  group.set_memory_max("0.5GiB");
  group.set_cpu_max("01.50");
  group.add_io_max()->set_read_bytes("1000kB");
  CanonicalizeFields(test);
  EXPECT_EQ(binding.cpus(), "0-3");
  EXPECT_EQ(binding.memory_nodes(), "nonsense");
  EXPECT_FALSE(group.has_everything_else());
  EXPECT_EQ(group.memory_max(), "512MiB");
  EXPECT_EQ(group.cpu_max(), "1.5");
  EXPECT_EQ(group.io_max(0).read_bytes(), "1MB");
}

}  // namespace
}  // namespace distbench::config
