// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/message_source.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/external/requests/descriptors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

using google::protobuf::FileDescriptorSet;
using google::protobuf::TextFormat;

// A service whose request is in another file, which comes later.
constexpr char kFiles[] = R"pb(
  file {
    name: "shop.proto"
    package: "shop"
    syntax: "proto3"
    dependency: "order.proto"
    service {
      name: "Shop"
      method {
        name: "Buy"
        input_type: ".shop.Order"
        output_type: ".shop.Order"
      }
      method {
        name: "Watch"
        input_type: ".shop.Order"
        output_type: ".shop.Order"
        server_streaming: true
      }
    }
  }
  file {
    name: "order.proto"
    package: "shop"
    syntax: "proto3"
    dependency: "google/protobuf/timestamp.proto"
    enum_type {
      name: "Color"
      value { name: "NONE" number: 0 }
      value { name: "RED" number: 1 }
    }
    message_type {
      name: "Item"
      field { name: "sku" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
      field { name: "count" number: 2 label: LABEL_OPTIONAL type: TYPE_UINT32 }
    }
    message_type {
      name: "Order"
      field { name: "user" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
      field {
        name: "id"
        number: 2
        label: LABEL_OPTIONAL
        type: TYPE_INT64
        json_name: "id"
      }
      field {
        name: "items"
        number: 3
        label: LABEL_REPEATED
        type: TYPE_MESSAGE
        type_name: ".shop.Item"
        json_name: "items"
      }
      field {
        name: "tags"
        number: 4
        label: LABEL_REPEATED
        type: TYPE_MESSAGE
        type_name: ".shop.Order.TagsEntry"
        json_name: "tags"
      }
      field {
        name: "color"
        number: 5
        label: LABEL_OPTIONAL
        type: TYPE_ENUM
        type_name: ".shop.Color"
        json_name: "color"
      }
      field {
        name: "price"
        number: 6
        label: LABEL_OPTIONAL
        type: TYPE_DOUBLE
        json_name: "price"
      }
      field {
        name: "card"
        number: 7
        label: LABEL_OPTIONAL
        type: TYPE_STRING
        oneof_index: 0
        json_name: "card"
      }
      field {
        name: "cash"
        number: 8
        label: LABEL_OPTIONAL
        type: TYPE_SINT32
        oneof_index: 0
        json_name: "cash"
      }
      field {
        name: "at"
        number: 9
        label: LABEL_OPTIONAL
        type: TYPE_MESSAGE
        type_name: ".google.protobuf.Timestamp"
        json_name: "at"
      }
      field {
        name: "names"
        number: 10
        label: LABEL_REPEATED
        type: TYPE_STRING
        json_name: "names"
      }
      nested_type {
        name: "TagsEntry"
        field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
        field {
          name: "value"
          number: 2
          label: LABEL_OPTIONAL
          type: TYPE_STRING
        }
        options { map_entry: true }
      }
      oneof_decl { name: "paid" }
    }
  }
)pb";

std::string Serialised(const std::string& files) {
  FileDescriptorSet set;
  EXPECT_TRUE(TextFormat::ParseFromString(files, &set));
  return set.SerializeAsString();
}

ExternalCall CallWith(const std::string& request, bool is_json = true) {
  return {.method = "/shop.Shop/Buy",
          .request = request,
          .is_json = is_json,
          .metadata = {},
          .rows = {{"user", "note"}, {"al", "\"x\"\n"}, {"bo", "\xc3\xa4"}},
          .descriptors = Serialised(kFiles)};
}

// Reads requests as text.
class Reader {
 public:
  Reader()
      : descriptors_(Descriptors::Parse(Serialised(kFiles)).value()),
        prototype_(*factory_.GetPrototype(
            (*descriptors_->FindMethod("/shop.Shop/Buy"))->input_type())) {}

  std::string Text(const std::string& bytes) {
    const std::unique_ptr<google::protobuf::Message> message(prototype_.New());
    EXPECT_TRUE(message->ParseFromString(bytes));
    return message->ShortDebugString();
  }

 private:
  const std::unique_ptr<const Descriptors> descriptors_;
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Message& prototype_;
};

// The requests of a call.
class Requests {
 public:
  explicit Requests(ExternalCall call, RequestSeries series = {})
      : call_(std::move(call)) {
    series.next_number = &number_;
    auto source =
        MessageSource::Make(call_, ParseDescriptors(call_).value(), series);
    EXPECT_TRUE(source.ok()) << source.status();
    if (source.ok()) source_ = *std::move(source);
  }

  MessageSource& source() { return *source_; }

  // Returns the next request as text, or the error.
  std::string Next(const RequestWish& wish = {}) {
    if (absl::Status made = source_->Next(encoded_, wish); !made.ok()) {
      return base::Message(made);
    }
    return Reader().Text(encoded_.message);
  }

  const EncodedRequest& encoded() const { return encoded_; }

 private:
  const ExternalCall call_;
  std::atomic<int64_t> number_ = 0;
  std::unique_ptr<MessageSource> source_;
  EncodedRequest encoded_;
};

std::string ProblemOf(ExternalCall call) {
  return base::Message(CheckExternalCall(call));
}

TEST(MessageSourceTest, EncodesJsonAndText) {
  const std::string expected =
      "user: \"al\" id: 7 items { sku: \"a\" count: 2 } "
      "tags { key: \"k\" value: \"v\" } color: RED price: 1.5 cash: -3 "
      "at { seconds: 1 }";
  EXPECT_EQ(Requests(CallWith(R"json(
      {"user": "al", "id": "7", "items": [{"sku": "a", "count": 2}],
       "tags": {"k": "v"}, "color": "RED", "price": 1.5, "cash": -3,
       "at": "1970-01-01T00:00:01Z"})json"))
                .Next(),
            expected);
  EXPECT_EQ(Requests(CallWith(expected, /*is_json=*/false)).Next(), expected);
}

TEST(MessageSourceTest, SaysWhatTheMethodStreams) {
  EXPECT_FALSE(Requests(CallWith("{}")).source().server_streams());
  ExternalCall watch = CallWith("{}");
  watch.method = "/shop.Shop/Watch";
  EXPECT_TRUE(Requests(watch).source().server_streams());
}

// Lengths of 128 and more take two bytes; nothing has 130 bytes in all.
TEST(MessageSourceTest, AFillerMakesRequestsAsLongAsTheyShouldBe) {
  for (const char* json :
       {R"({"user": "{{filler}}"})",
        R"({"id": {{counter}}, "names": ["b{{filler}}"], "user": "{{uuid}}"})",
        R"({"names": ["{{filler}}"], "user": "ä"})"}) {
    Requests requests(CallWith(json));
    for (const int64_t bytes : {100, 129, 131, 300, 99, 70'000, 1000}) {
      requests.Next({.message_bytes = bytes});
      EXPECT_EQ(requests.encoded().message.size(), bytes) << json;
    }
    requests.Next({.message_bytes = 0});
    EXPECT_LT(requests.encoded().message.size(), 60) << json;
  }
  Requests odd(CallWith(R"({"user": "{{filler}}"})"));
  odd.Next({.message_bytes = 130});
  EXPECT_NEAR(odd.encoded().message.size(), 130, 1);
  EXPECT_THAT(odd.Next({.message_bytes = int64_t{1} << 40}),
              HasSubstr("is the limit"));
}

TEST(MessageSourceTest, OnlyTheFirstMessageOfAStreamHasMetadata) {
  ExternalCall call = CallWith("{}");
  call.metadata = {{"key", "{{counter}}"}};
  Requests requests(call);
  requests.Next();
  EXPECT_EQ(requests.encoded().metadata.size(), 1);
  requests.Next({.has_metadata = false});
  EXPECT_EQ(requests.encoded().metadata.size(), 0);
}

TEST(MessageSourceTest, BinaryRequestsAreSentAsTheyAre) {
  ExternalCall call = CallWith("{}");
  call.binary_request =
      "\x0a\x02"
      "al";
  Requests requests(call);
  EXPECT_EQ(requests.Next(), "user: \"al\"");
  EXPECT_TRUE(requests.source().is_constant());
  call.binary_request =
      "\x0a\x05"
      "al";
  EXPECT_THAT(ProblemOf(call), HasSubstr("its 4 bytes are no shop.Order"));
  // Nothing is known of the method then.
  call.descriptors = "";
  EXPECT_EQ(ProblemOf(call), "");
  std::atomic<int64_t> number = 0;
  const auto source =
      MessageSource::Make(call, nullptr, {.next_number = &number});
  ASSERT_TRUE(source.ok()) << source.status();
  EncodedRequest encoded;
  ASSERT_TRUE((*source)->Next(encoded).ok());
  EXPECT_EQ(encoded.message, *call.binary_request);
  EXPECT_TRUE((*source)->server_streams());
}

TEST(MessageSourceTest, AMethodStreamsAsTheRpcWantsTo) {
  ExternalCall call = CallWith("{}");
  call.stream = CallStream{};
  EXPECT_THAT(ProblemOf(call), HasSubstr("method: \"shop.Shop.Buy\" does not "
                                         "stream; remove `stream`"));
  call.method = "/shop.Shop/Watch";
  EXPECT_EQ(ProblemOf(call), "");
  call.stream->is_echo = true;
  EXPECT_THAT(ProblemOf(call), HasSubstr("does not stream both ways"));
  call.stream = CallStream{.sends_several = true};
  EXPECT_THAT(ProblemOf(call), HasSubstr("takes one request message"));
}

TEST(MessageSourceTest, FillsInVariablesWhereverTheyAre) {
  Requests requests(CallWith(R"json(
      {"user": "u-{{counter}}-{{row:user}}", "id": {{counter:10:5}},
       "items": [{"sku": "{{row:note}}", "count": "{{counter}}"}],
       "names": ["a", "{{instance}}"], "cash": {{counter:-1:1}}})json"),
                    {.instance = "client/1", .first_row = 1});
  EXPECT_EQ(requests.Next(),
            R"(user: "u-0-bo" id: 10 items { sku: "\303\244" } )"
            R"(cash: -1 names: "a" names: "client/1")");
  EXPECT_EQ(requests.Next(),
            R"(user: "u-1-al" id: 15 items { sku: "\"x\"\n" count: 1 } )"
            R"(cash: 0 names: "a" names: "client/1")");
}

// Variables where only parsing every text helps, and the request of number 1.
TEST(MessageSourceTest, FillsInVariablesThatAreNotPartsOfStrings) {
  const struct {
    bool is_json;
    std::string request;
    std::string expected;
  } cases[] = {
      {true, R"({"{{choice:user}}": "x"})", "user: \"x\""},
      {true, R"({"tags": {"k{{counter}}": "v"}})",
       "tags { key: \"k1\" value: \"v\" }"},
      {true, R"({"tags": {"k": "v{{counter}}"}})",
       "tags { key: \"k\" value: \"v1\" }"},
      {true, R"({"color": "{{choice:RED}}"})", "color: RED"},
      {true, R"({"color": {{counter}}})", "color: RED"},
      {true, R"({"price": {{counter}}.5})", "price: 1.5"},
      {true, R"({"at": "1970-01-01T00:00:0{{counter}}Z"})",
       "at { seconds: 1 }"},
      {false, "color: {{choice:RED}} price: {{counter}}",
       "color: RED price: 1"},
      {false, "id: 0{{counter:10:0}}", "id: 8"},
      {false, "user: '{{row:note}}'", R"(user: "\303\244")"},
  };
  for (const auto& [is_json, request, expected] : cases) {
    Requests requests(CallWith(request, is_json));
    requests.Next();
    EXPECT_EQ(requests.Next(), expected) << request;
  }
}

// What is patched is what parsing gives.
TEST(MessageSourceTest, PatchingAndParsingGiveTheSame) {
  const std::string patched =
      R"json({"user": "{{uuid}}{{row:user}}", "id": {{random:-9:9}}})json";
  // The variable in the map forbids patching.
  const std::string parsed =
      R"json({"user": "{{uuid}}{{row:user}}", "id": {{random:-9:9}},
              "tags": {"{{choice:k}}": ""}})json";
  Requests fast(CallWith(patched), {.seed = 4});
  Requests slow(CallWith(parsed), {.seed = 4});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(slow.Next(), fast.Next() + " tags { key: \"k\" value: \"\" }");
  }
}

TEST(MessageSourceTest, RequestsWithoutVariablesAreConstant) {
  EXPECT_TRUE(Requests(CallWith("{}")).source().is_constant());
  EXPECT_FALSE(
      Requests(CallWith(R"({"id": {{counter}}})")).source().is_constant());
  ExternalCall call = CallWith("{}");
  call.metadata = {{"x-id", "{{counter}}"}};
  EXPECT_FALSE(Requests(call).source().is_constant());
}

TEST(MessageSourceTest, FillsInMetadata) {
  ExternalCall call = CallWith("{}");
  call.metadata = {{"x-user", "{{row:user}}/{{counter}}"}, {"k-bin", "\xff"}};
  Requests requests(call);
  requests.Next();
  requests.Next();
  EXPECT_THAT(requests.encoded().metadata,
              ElementsAre(Pair("x-user", "bo/1"), Pair("k-bin", "\xff")));
}

TEST(MessageSourceTest, ARequestThatDoesNotFitIsAnErrorOfItsOwn) {
  Requests requests(CallWith(R"({"items": [{"count": {{counter:1:-1}}}]})"));
  EXPECT_EQ(requests.Next(), "items { count: 1 }");
  EXPECT_EQ(requests.Next(), "items { }");
  EXPECT_THAT(requests.Next(), AllOf(StartsWith("request 2: "),
                                     HasSubstr("shop.Order has the fields")));
  ExternalCall call = CallWith("{}");
  call.metadata = {{"x-note", "{{row:note}}"}};
  EXPECT_THAT(Requests(call).Next(),
              AllOf(StartsWith("metadata: "), HasSubstr("printable ASCII")));
}

TEST(MessageSourceTest, ErrorsInResultsDoNotHaveRows) {
  ExternalCall call = CallWith(R"({"id": {{row:id}}})");
  call.rows = {{"id"}, {"1"}, {"my secret"}};
  Requests requests(call);
  EXPECT_EQ(requests.Next(), "id: 1");
  const std::string error = requests.Next();
  EXPECT_THAT(error,
              AllOf(StartsWith("request 1: "), HasSubstr("it is no shop.Order"),
                    Not(HasSubstr("my secret"))));
  EXPECT_THAT(ProblemOf(call), HasSubstr("my secret"));
  std::swap(call.rows[1], call.rows[2]);
  std::atomic<int64_t> number = 0;
  const auto source = MessageSource::Make(call, ParseDescriptors(call).value(),
                                          {.next_number = &number});
  EXPECT_THAT(
      base::Message(source.status()),
      AllOf(StartsWith("request: with its row"), Not(HasSubstr("my secret"))));
}

TEST(CheckExternalCallTest, AcceptsWhatCanBeCalled) {
  EXPECT_EQ(ProblemOf(CallWith("{}")), "");
  ExternalCall by_reflection = CallWith(R"({"user": "{{row:user}}"})");
  by_reflection.descriptors = "";
  EXPECT_EQ(ProblemOf(by_reflection), "");
}

TEST(CheckExternalCallTest, NamesWhatIsWrong) {
  const auto with = [](auto change) {
    ExternalCall call = CallWith("{}");
    change(call);
    return ProblemOf(call);
  };
  EXPECT_THAT(with([](ExternalCall& call) { call.method = "shop.Shop.Buy"; }),
              AllOf(StartsWith("method: "),
                    HasSubstr("write \"/package.Service/Method\"")));
  EXPECT_THAT(with([](ExternalCall& call) { call.method = "/shop.Shop/By"; }),
              HasSubstr("did you mean \"Buy\"?"));
  EXPECT_THAT(with([](ExternalCall& call) { call.method = "/shop.Shp/Buy"; }),
              HasSubstr("did you mean \"shop.Shop\"?"));
  EXPECT_THAT(with([](ExternalCall& call) { call.request = "{\"usr\": 1}"; }),
              AllOf(StartsWith("request: "), HasSubstr("usr"),
                    HasSubstr("shop.Order has the fields \"user\"")));
  EXPECT_THAT(
      with([](ExternalCall& call) {
        call.request = "id: 1 usr: 2";
        call.is_json = false;
      }),
      AllOf(StartsWith("request: line 1, column 10"), HasSubstr("usr")));
  EXPECT_THAT(with([](ExternalCall& call) { call.request = "{{x}}"; }),
              StartsWith("request: character 1: "));
  EXPECT_THAT(with([](ExternalCall& call) { call.rows.resize(1); }),
              StartsWith("rows: there are no rows"));
  EXPECT_THAT(with([](ExternalCall& call) { call.rows[2].pop_back(); }),
              StartsWith("rows: row 2 has 1 columns; it needs 2"));
  EXPECT_THAT(with([](ExternalCall& call) {
                call.metadata = {{"X", "a"}};
              }),
              AllOf(StartsWith("metadata: "), HasSubstr("lower-case")));
  EXPECT_THAT(with([](ExternalCall& call) {
                call.metadata = {{"x", "{{"}};
              }),
              StartsWith("metadata: x: character 1"));
  EXPECT_THAT(with([](ExternalCall& call) { call.descriptors = "junk"; }),
              AllOf(StartsWith("descriptors: "), HasSubstr("protoc")));
}

// Each row is tried, not only the first one.
TEST(CheckExternalCallTest, TriesTheRows) {
  ExternalCall call = CallWith(R"({"id": {{row:user}}})");
  call.rows = {{"user"}, {"1"}, {"2"}, {"three"}};
  EXPECT_THAT(ProblemOf(call), StartsWith("request 2: "));
}

TEST(PatchedMessageTest, PatchesStringsAndIntegersOfPlainText) {
  const auto descriptors = Descriptors::Parse(Serialised(kFiles)).value();
  const auto method = descriptors->FindMethod("/shop.Shop/Buy");
  const MessageEncoder encoder(*(*method)->input_type(), /*is_json=*/true);
  const auto text = Template::Parse(
      R"({"user": "a{{counter}}b", "items": [{"count": {{row:n}}}]})",
      TemplateSyntax::kJson, {"n"});
  const auto patched = PatchedMessage::Make(encoder, *text);
  ASSERT_NE(patched, nullptr);
  std::string bytes;
  const std::vector<std::string> good = {"7"};
  ASSERT_TRUE(patched->Encode({.number = 3, .row = &good}, bytes));
  EXPECT_EQ(Reader().Text(bytes), "user: \"a3b\" items { count: 7 }");
  for (const std::string value : {"07", "-1", "x", "", "4294967296"}) {
    const std::vector<std::string> row = {value};
    EXPECT_FALSE(patched->Encode({.row = &row}, bytes)) << value;
  }
}

TEST(DescriptorsTest, NamesTheFileThatIsMissing) {
  FileDescriptorSet set;
  set.ParseFromString(Serialised(kFiles));
  set.mutable_file()->RemoveLast();
  EXPECT_THAT(
      base::Message(Descriptors::Parse(set.SerializeAsString()).status()),
      AllOf(HasSubstr("order.proto"), HasSubstr("--include_imports")));
  *set.add_file() = set.file(0);
  EXPECT_THAT(
      base::Message(Descriptors::Parse(set.SerializeAsString()).status()),
      HasSubstr("shop.proto"));
}

}  // namespace

// Calls that somebody has made to harm who checks them: the sequencer, for one.

namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

// More than a thread's stack has room for.
constexpr int kVeryMany = 100'000;

std::string Repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

void AddField(DescriptorProto& type, const std::string& type_name) {
  FieldDescriptorProto& field = *type.add_field();
  field.set_name("next");
  field.set_number(1);
  field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
  field.set_type(FieldDescriptorProto::TYPE_MESSAGE);
  field.set_type_name(type_name);
}

// A service whose method /S/Call takes T0, the first of a ring of types.
FileDescriptorSet RingOfTypes(int count) {
  FileDescriptorSet set;
  FileDescriptorProto& file = *set.add_file();
  file.set_name("ring.proto");
  for (int i = 0; i < count; ++i) {
    DescriptorProto& type = *file.add_message_type();
    type.set_name(absl::StrCat("T", i));
    AddField(type, absl::StrCat(".T", (i + 1) % count));
  }
  auto& service = *file.add_service();
  service.set_name("S");
  auto& method = *service.add_method();
  method.set_name("Call");
  method.set_input_type(".T0");
  method.set_output_type(".T0");
  return set;
}

// Files that import one another, the first one first.
FileDescriptorSet ChainOfFiles(int count) {
  FileDescriptorSet set;
  for (int i = 0; i < count; ++i) {
    FileDescriptorProto& file = *set.add_file();
    file.set_name(absl::StrCat("f", i));
    if (i + 1 < count) file.add_dependency(absl::StrCat("f", i + 1));
  }
  return set;
}

std::string ProblemOf(const FileDescriptorSet& set, std::string request,
                      bool is_json) {
  ExternalCall call;
  call.method = "/S/Call";
  call.request = std::move(request);
  call.is_json = is_json;
  call.descriptors = set.SerializeAsString();
  return base::Message(CheckExternalCall(call));
}

std::string ProblemOf(const FileDescriptorSet& set) {
  return base::Message(Descriptors::Parse(set.SerializeAsString()).status());
}

TEST(HostileCallsTest, DeepRequestsAreRefused) {
  const FileDescriptorSet set = RingOfTypes(1);
  EXPECT_EQ(ProblemOf(set, "next {next {}}", /*is_json=*/false), "");
  EXPECT_NE(ProblemOf(set, Repeated("next {", kVeryMany), /*is_json=*/false),
            "");
  EXPECT_NE(ProblemOf(set, Repeated("{\"next\":", kVeryMany), /*is_json=*/true),
            "");
}

TEST(HostileCallsTest, SoAreRequestsOfVeryManyTypes) {
  EXPECT_EQ(ProblemOf(RingOfTypes(4000), "{}", /*is_json=*/true), "");
  EXPECT_THAT(ProblemOf(RingOfTypes(kVeryMany), "{}", /*is_json=*/true),
              HasSubstr("T0 consists of more than 4000 types"));
}

TEST(HostileCallsTest, ImportsMayFormLongChainsButNoCycles) {
  FileDescriptorSet files = ChainOfFiles(kVeryMany);
  EXPECT_EQ(ProblemOf(files), "");
  files.mutable_file()->rbegin()->add_dependency("f0");
  EXPECT_THAT(ProblemOf(files), HasSubstr("imports itself"));
}

// Every name in a package, and every package around it, has a copy of its name.
TEST(HostileCallsTest, LongNamesDoNotMultiply) {
  FileDescriptorSet set;
  set.add_file()->set_name("a.proto");
  set.mutable_file(0)->set_package(Repeated("p.", kVeryMany) + "p");
  EXPECT_THAT(ProblemOf(set), HasSubstr("longer than 1000"));
  set.mutable_file(0)->set_package("p");
  DescriptorProto& type = *set.mutable_file(0)->add_message_type();
  type.set_name("T");
  type.add_nested_type()->set_name(Repeated("N", 1000));
  EXPECT_THAT(ProblemOf(set), HasSubstr("longer than 1000"));
}

TEST(HostileCallsTest, VariablesDoNotMultiplyRequests) {
  ExternalCall call;
  call.method = "/S/Call";
  call.rows = {{"a"}, {std::string(1 << 20, 'x')}};
  for (const char* variable : {"{{random_hex:4096}}", "{{row:a}}"}) {
    call.request = Repeated(variable, kVeryMany);
    EXPECT_THAT(base::Message(CheckExternalCall(call)),
                HasSubstr("request: its variables can make it"))
        << variable;
  }
}

}  // namespace
}  // namespace distbench::external
