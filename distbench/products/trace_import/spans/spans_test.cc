// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/spans/spans.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kManySpans = 1000;

SpanSet Read(const std::string& format, const std::string& text) {
  SpanSet set;
  const absl::Status status = ReadSpans(format, "file", text, kManySpans, set);
  EXPECT_TRUE(status.ok()) << status;
  return set;
}

std::string ErrorOf(const std::string& format, const std::string& text,
                    int64_t max_spans = kManySpans) {
  SpanSet set;
  return std::string(ReadSpans(format, "file", text, max_spans, set).message());
}

constexpr char kOtlp[] =
    R"({"resourceSpans":[{"resource":{"attributes":[)"
    R"({"key":"service.name","value":{"stringValue":"shop"}},)"
    R"({"key":"service.instance.id","value":{"stringValue":"shop-1"}}]},)"
    R"("scopeSpans":[{"scope":{"name":"x"},"spans":[)"
    R"({"traceId":"a1","spanId":"02","parentSpanId":"01","name":"get",)"
    R"("kind":3,"startTimeUnixNano":"2000","endTimeUnixNano":"3000",)"
    R"("attributes":[{"key":"peer.service","value":{"stringValue":"db"}},)"
    R"({"key":"http.request.body.size","value":{"intValue":"12"}}],)"
    R"("links":[{"traceId":"b","spanId":"9"}],"status":{"code":2}}]}]}]})";

TEST(ReadSpansTest, OtlpSpansHaveTheServiceOfTheirResource) {
  const SpanSet set = Read("otlp", kOtlp);
  ASSERT_EQ(set.spans.size(), 1);
  const Span& span = set.spans[0];
  EXPECT_EQ(span.trace, "a1");
  EXPECT_EQ(span.id, "02");
  EXPECT_EQ(span.parent, "01");
  EXPECT_EQ(span.service, "shop");
  EXPECT_EQ(span.instance, "shop-1");
  EXPECT_EQ(span.operation, "get");
  EXPECT_EQ(span.peer, "db");
  EXPECT_EQ(span.kind, SpanKind::kClient);
  EXPECT_EQ(span.start_ns, 2000);
  EXPECT_EQ(span.end_ns, 3000);
  EXPECT_EQ(span.request_bytes, 12);
  EXPECT_EQ(span.response_bytes, Span::kNoSize);
  EXPECT_TRUE(span.failed);
}

TEST(ReadSpansTest, SaysThatAFileIsEmpty) {
  for (const char* format : {"otlp", "jaeger", "zipkin", "csv"}) {
    EXPECT_EQ(ErrorOf(format, ""), "file is empty") << format;
    EXPECT_EQ(ErrorOf(format, " \n"), "file is empty") << format;
  }
}

TEST(ReadSpansTest, JsonMayBeOneDocumentPerLine) {
  const SpanSet set =
      Read("otlp", std::string(kOtlp) + "\n\nnot JSON\n" + kOtlp + "\n");
  EXPECT_EQ(set.spans.size(), 2);
  EXPECT_EQ(set.notes.at("lines that are not JSON were left out"), 1);
}

// Its spans are complete, but what would say whose they are comes after them.
TEST(ReadSpansTest, ABrokenLineLeavesNoSpansBehind) {
  std::string whole = kOtlp;
  whole.replace(whole.find("shop"), 4, "bank");
  const std::string broken =
      std::string(kOtlp).substr(0, sizeof(kOtlp) - sizeof("]}]}]}"));
  for (const std::string& text : {broken + "\n" + whole + "\n" + whole,
                                  whole + "\n" + broken + "\n" + whole,
                                  whole + "\n" + whole + "\n" + broken}) {
    const SpanSet set = Read("otlp", text);
    ASSERT_EQ(set.spans.size(), 2) << text;
    for (const Span& span : set.spans) EXPECT_EQ(span.service, "bank");
    EXPECT_EQ(set.notes.at("lines that are not JSON were left out"), 1);
  }
}

TEST(ReadSpansTest, AnObjectMayBeOnSeveralLines) {
  for (const std::string& text :
       {std::string("{\n\"more\": 1,\n") + (kOtlp + 1),
        std::string("[\n") + kOtlp + "\n]"}) {
    const SpanSet set = Read("otlp", text);
    EXPECT_EQ(set.spans.size(), 1) << text;
    EXPECT_TRUE(set.notes.empty()) << text;
  }
}

TEST(ReadSpansTest, JaegersProcessesAreAfterTheSpans) {
  const SpanSet set = Read("jaeger", R"({"data": [{
    "traceID": "a",
    "spans": [{
      "traceID": "a", "spanID": "2", "operationName": "find",
      "references": [{"refType": "FOLLOWS_FROM", "traceID": "a", "spanID": "0"},
                     {"refType": "CHILD_OF", "traceID": "a", "spanID": "1"}],
      "startTime": 1500000000000001, "duration": 25, "processID": "p1",
      "tags": [{"key": "span.kind", "type": "string", "value": "server"},
               {"key": "error", "type": "bool", "value": true}]
    }],
    "processes": {"p1": {"serviceName": "back",
                         "tags": [{"key": "hostname", "value": "h7"}]}}
  }]})");
  ASSERT_EQ(set.spans.size(), 1);
  EXPECT_EQ(set.spans[0].parent, "1");
  EXPECT_EQ(set.spans[0].service, "back");
  EXPECT_EQ(set.spans[0].instance, "h7");
  EXPECT_EQ(set.spans[0].kind, SpanKind::kServer);
  EXPECT_EQ(set.spans[0].start_ns, 1500000000000001000);
  EXPECT_EQ(set.spans[0].end_ns, 1500000000000026000);
  EXPECT_TRUE(set.spans[0].failed);
}

TEST(ReadSpansTest, ZipkinsSharedIdsAreSeparated) {
  const SpanSet set = Read("zipkin", R"([
    {"traceId": "a", "id": "1", "kind": "CLIENT", "name": "get",
     "timestamp": 1000, "duration": 80,
     "localEndpoint": {"serviceName": "front", "ipv4": "10.0.0.1"},
     "remoteEndpoint": {"serviceName": "back"}},
    {"traceId": "a", "id": "1", "shared": true, "kind": "SERVER",
     "timestamp": 1010, "duration": 60,
     "localEndpoint": {"serviceName": "back", "ipv4": "10.0.0.2", "port": 80},
     "tags": {"http.response.body.size": "-1", "http.response.size": "512"}}])");
  ASSERT_EQ(set.spans.size(), 2);
  EXPECT_EQ(set.spans[0].peer, "back");
  EXPECT_EQ(set.spans[0].instance, "10.0.0.1");
  EXPECT_EQ(set.spans[1].parent, set.spans[0].id);
  EXPECT_NE(set.spans[1].id, set.spans[0].id);
  EXPECT_EQ(set.spans[1].instance, "10.0.0.2:80");
  EXPECT_EQ(set.spans[1].response_bytes, 512);
}

TEST(ReadSpansTest, CsvHasAHeaderAndQuotes) {
  const SpanSet set = Read("csv",
                           "trace,span,parent,service,operation,start_ns,"
                           "duration_ns,kind\r\n"
                           "t,1,,web,\"say \"\"hi\"\", twice\",10,5,server\r\n"
                           "t,2,1\n"
                           "t,3,1,db,q,-1,5,\n");
  ASSERT_EQ(set.spans.size(), 1);
  EXPECT_EQ(set.spans[0].operation, "say \"hi\", twice");
  EXPECT_EQ(set.spans[0].end_ns, 15);
  EXPECT_EQ(set.notes.size(), 2);
}

TEST(ReadSpansTest, ThePodIsTheInstanceWhateverTheOrder) {
  const std::string host = R"({"key": "hostname", "value": "h7"})";
  const std::string pod = R"({"key": "k8s.pod.name", "value": "back-0"})";
  for (const std::string& tags : {host + "," + pod, pod + "," + host}) {
    const SpanSet set = Read("jaeger", R"({"spans": [
      {"traceID": "a", "spanID": "1", "operationName": "find",
       "startTime": 1000, "duration": 25, "processID": "p"}],
      "processes": {"p": {"serviceName": "back", "tags": [)" +
                                           tags + "]}}}");
    ASSERT_EQ(set.spans.size(), 1);
    EXPECT_EQ(set.spans[0].instance, "back-0");
  }
}

TEST(ReadSpansTest, ZipkinsErrorsNeedNoMessage) {
  const SpanSet set = Read("zipkin", R"([
    {"traceId": "a", "id": "1", "timestamp": 1000, "tags": {"error": ""}},
    {"traceId": "a", "id": "2", "timestamp": 1000, "tags": {"error": "late"}},
    {"traceId": "a", "id": "3", "timestamp": 1000, "tags": {"error": "false"}},
    {"traceId": "a", "id": "4", "timestamp": 1000, "tags": {}}])");
  ASSERT_EQ(set.spans.size(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(set.spans[i].failed, i < 2) << i;
}

// A sign of inches, for example, does not begin what is in quotes.
TEST(ReadSpansTest, CsvMayHaveQuotesWithinACell) {
  const SpanSet set = Read("csv",
                           "trace,span,service,operation,start_ns,duration_ns\n"
                           "t,1,db,SELECT 5\" disk,10,5\n"
                           "t,2,db,\"\",10,5\n"
                           "t,3,db,\"\"\"a\"\", b\",10,5\n");
  ASSERT_EQ(set.spans.size(), 3);
  EXPECT_EQ(set.spans[0].operation, "SELECT 5\" disk");
  EXPECT_EQ(set.spans[1].operation, "");
  EXPECT_EQ(set.spans[2].operation, "\"a\", b");
  EXPECT_TRUE(set.notes.empty());
}

TEST(ReadSpansTest, CsvMayBeOfASpreadsheetOrOfPython) {
  const SpanSet set = Read(
      "csv",
      "\xEF\xBB\xBFtrace,span,service,operation,start_ns,duration_ns,error\r\n"
      "t,1,web,get,10,5,True\r\n"
      "t,2,web,get,10,5,TRUE\r\n"
      "t,3,web,get,10,5,1\r\n"
      "t,4,web,get,10,5,False\r\n"
      "t,5,web,get,10,5,\r\n");
  ASSERT_EQ(set.spans.size(), 5);
  EXPECT_EQ(set.spans[0].trace, "t");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(set.spans[i].failed, i < 3) << i;
}

TEST(ReadSpansTest, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(ErrorOf("otlp", "{\"resourceSpans\": ["),
              HasSubstr("file: is not JSON"));
  EXPECT_THAT(ErrorOf("zipkin", kOtlp), HasSubstr("of another format"));
  EXPECT_THAT(ErrorOf("csv", "trace,span,colour\n"), HasSubstr("colour"));
  EXPECT_THAT(ErrorOf("csv", "trace,span\n"), HasSubstr("\"service\""));
  EXPECT_THAT(ErrorOf("otlp", std::string(kOtlp) + "\n" + kOtlp, 1),
              HasSubstr("--max_spans"));
  EXPECT_THAT(ErrorOf("xml", "<a/>"), HasSubstr("xml"));
}

}  // namespace
}  // namespace distbench::trace_import
