// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::IsEmpty;

class BadFault : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadFault, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

#define FAULT(rest) "server_faults { name: 'new' " rest " }"
#define AT_SERVER(rest) FAULT("service: 'server' " rest)
#define STREAM                                                             \
  " default_protocol: 'loopback' rpc_descriptions { name: 'flow' client: " \
  "'client' server: 'server' stream {} } action_lists { name: 'flow' }"
#define AT "server_faults[\"new\"]"

INSTANTIATE_TEST_SUITE_P(
    Rules, BadFault,
    ::testing::Values(
        ValidationCase{"NoService", "", FAULT("error_code: 'ABORTED'"),
                       AT ".service", "is missing; name the service"},
        ValidationCase{"UnknownService", "",
                       FAULT("service: 'sever' error_code: 'ABORTED'"),
                       AT ".service", "did you mean \"server\"?"},
        ValidationCase{"UnknownInstance", "",
                       AT_SERVER("instances: [1, 3] error_code: 'ABORTED'"),
                       AT ".instances[1]", "3 is out of range"},
        ValidationCase{"InstanceTwice", "",
                       AT_SERVER("instances: [1, 1] error_code: 'ABORTED'"),
                       AT ".instances[1]", "1 is listed more than once"},
        ValidationCase{"NothingHappens", "", AT_SERVER(""), AT,
                       "does not say what happens; give one of error_code"},
        ValidationCase{"NotFrozen", "",
                       AT_SERVER("freeze: false duration: '1s'"), AT ".freeze",
                       "is false; set it to true"},
        ValidationCase{"UnknownCode", "", AT_SERVER("error_code: 'OVERLOADED'"),
                       AT ".error_code",
                       "\"OVERLOADED\" is not the code of an error"},
        ValidationCase{"SuccessIsNoError", "", AT_SERVER("error_code: 'OK'"),
                       AT ".error_code", "\"OK\" is not the code of an error"},
        ValidationCase{"NoUnit", "", AT_SERVER("extra_latency: '5'"),
                       AT ".extra_latency", "\"5\" is not a duration"},
        ValidationCase{"NoLatency", "", AT_SERVER("extra_latency: '0s'"),
                       AT ".extra_latency",
                       "\"0s\" is out of range; must be from 1ns to 277h"},
        ValidationCase{"UnknownDistribution", "",
                       AT_SERVER("extra_latency_distribution: 'delay'"),
                       AT ".extra_latency_distribution",
                       "did you mean \"delays\"?"},
        ValidationCase{"UnknownRpc", "",
                       AT_SERVER("rpc_name: 'quary' error_code: 'ABORTED'"),
                       AT ".rpc_name", "did you mean \"query\"?"},
        ValidationCase{"RpcOfAnother", "",
                       AT_SERVER("rpc_name: 'talk' error_code: 'ABORTED'"),
                       AT ".rpc_name",
                       "RPC \"talk\" is not answered by \"server\", but by "
                       "\"grid\""},
        ValidationCase{"FreezeOfAnRpc", "",
                       AT_SERVER("rpc_name: 'query' freeze: true duration_ns: "
                                 "1"),
                       AT ".rpc_name", "does not go together with freeze"},
        ValidationCase{"StreamingRpc", "",
                       AT_SERVER("rpc_name: 'flow' error_code: 'ABORTED'")
                           STREAM,
                       AT ".rpc_name", "RPC \"flow\" streams"},
        ValidationCase{"StreamsAmongAll", "",
                       AT_SERVER("extra_latency: '1s'") STREAM, AT ".rpc_name",
                       "name an RPC that does not stream"},
        ValidationCase{"NegativeStart", "",
                       AT_SERVER("start_ns: -1 error_code: 'ABORTED'"),
                       AT ".start_ns", "-1 is out of range"},
        ValidationCase{"StartTwice", "",
                       AT_SERVER("start_ns: 9 start: '9ns' error_code: "
                                 "'ABORTED'"),
                       AT, "has both start and start_ns; give one"},
        ValidationCase{"NoDuration", "",
                       AT_SERVER("duration: '0s' error_code: 'ABORTED'"),
                       AT ".duration", "\"0s\" is out of range"},
        ValidationCase{"RepeatsTooOften", "",
                       AT_SERVER("duration_ns: 1 repeat: '999us' error_code: "
                                 "'ABORTED'"),
                       AT ".repeat",
                       "\"999us\" is out of range; must be from 1ms"},
        ValidationCase{"NeverEnds", "",
                       AT_SERVER("duration: '2s' repeat: '2s' error_code: "
                                 "'ABORTED'"),
                       AT ".repeat", "is not longer than the duration"},
        ValidationCase{"RepeatsWithoutDuration", "",
                       AT_SERVER("repeat: '2s' error_code: 'ABORTED'"),
                       AT ".repeat", "needs a duration"},
        ValidationCase{"FreezeForEver", "", AT_SERVER("freeze: true"),
                       AT ".duration", "say how long the server is frozen"},
        ValidationCase{"NeverHappens", "",
                       AT_SERVER("probability: 0 error_code: 'ABORTED'"),
                       AT ".probability", "must be above 0 and at most 1"},
        ValidationCase{"NoProbability", "",
                       AT_SERVER("probability: nan error_code: 'ABORTED'"),
                       AT ".probability", "must be above 0 and at most 1"},
        ValidationCase{"PerhapsFrozen", "",
                       AT_SERVER("probability: 0.5 freeze: true duration_ns: "
                                 "1"),
                       AT ".probability", "does not go together with freeze"},
        ValidationCase{
            "DriverCannotReset", "",
            AT_SERVER("reset_connections: true") " default_protocol: 'grpc'",
            AT ".reset_connections",
            "driver \"grpc\" of service \"server\" cannot break its "
            "connections"}),
    [](const auto& info) { return std::string(info.param.rule); });

TEST(FaultValidationTest, AResetHasNoDuration) {
  bool is_found = false;
  for (const Problem& problem :
       ProblemsAfter("", AT_SERVER("reset_connections: true duration: '1s'"))) {
    is_found |= problem.path == "tests[0]." AT ".duration";
  }
  EXPECT_TRUE(is_found);
}

TEST(FaultValidationTest, NamesAreUnique) {
  ExpectOneProblem({"Twice", "",
                    AT_SERVER("error_code: 'ABORTED'")
                        AT_SERVER("error_code: 'INTERNAL'"),
                    "server_faults[1].name", "names must be unique"});
}

TEST(FaultValidationTest, AllKindsAndTimes) {
  EXPECT_THAT(
      ProblemsAfter("", AT_SERVER("error_code: 'ABORTED' probability: 1 "
                                  "duration: '1s' repeat: '1000000001ns'")),
      IsEmpty());
  EXPECT_THAT(
      ProblemsAfter("", AT_SERVER("instances: [0, 2] rpc_name: 'query' "
                                  "extra_latency_distribution: 'delays'")),
      IsEmpty());
  EXPECT_THAT(
      ProblemsAfter("", AT_SERVER("freeze: true duration: '300ms'") STREAM),
      IsEmpty());
}

class BadAdmission : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadAdmission, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

constexpr char kThreeServers[] = "name: 'server' count: 3";
#define ADMISSION(spec) "name: 'server' count: 3 admission { " spec " }"
#define AT_ADMISSION "services[\"server\"].admission"

INSTANTIATE_TEST_SUITE_P(
    Rules, BadAdmission,
    ::testing::Values(
        ValidationCase{"NoLimit", kThreeServers, ADMISSION("max_waiting: 1"),
                       AT_ADMISSION ".max_running", "is missing"},
        ValidationCase{"NoneRuns", kThreeServers, ADMISSION("max_running: 0"),
                       AT_ADMISSION ".max_running", "0 is out of range"},
        ValidationCase{"NegativeWaiting", kThreeServers,
                       ADMISSION("max_running: 1 max_waiting: -1"),
                       AT_ADMISSION ".max_waiting", "-1 is out of range"},
        ValidationCase{"UnknownChoice", kThreeServers,
                       ADMISSION("max_running: 1 max_waiting: 1 refuse: 'all'"),
                       AT_ADMISSION ".refuse",
                       "must be \"newest\" or \"oldest\""},
        ValidationCase{"RefusesNone", kThreeServers,
                       ADMISSION("max_running: 1 refuse: 'newest'"),
                       AT_ADMISSION ".refuse", "has no effect without"},
        ValidationCase{"NoOldest", kThreeServers,
                       ADMISSION("max_running: 1 max_waiting: 0 refuse: "
                                 "'oldest'"),
                       AT_ADMISSION ".refuse", "if none waits"},
        ValidationCase{
            "TooManyWorkers", kThreeServers,
            ADMISSION("max_running: 2") "} workers_per_instance: 3 "
                                        "services { name: 'more' count: 1",
            AT_ADMISSION ".max_running", "2 cannot be shared by 3 workers"},
        ValidationCase{
            "Streams", kThreeServers,
            ADMISSION("max_running: 2") "} " STREAM
                                        " services { name: 'more' count: 1",
            "rpc_descriptions[\"flow\"].stream",
            "does not go with the admission of service \"server\""}),
    [](const auto& info) { return std::string(info.param.rule); });

TEST(AdmissionValidationTest, LimitsMayBeGivenAlone) {
  EXPECT_THAT(ProblemsAfter(kThreeServers, ADMISSION("max_running: 1")),
              IsEmpty());
  EXPECT_THAT(
      ProblemsAfter(kThreeServers, ADMISSION("max_running: 1 max_waiting: 0 "
                                             "refuse: ''")),
      IsEmpty());
}

}  // namespace
}  // namespace distbench::config
