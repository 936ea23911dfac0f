#include "agent/cassette/cassette.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "agent/model/provider_testing.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::agent {
namespace {

using Kind = ModelError::Kind;

constexpr const char* kIdA = "s-01kj4x9s5qz8v7c6b5n4m3k2h1";
constexpr const char* kIdB = "s-01kj4x9s5qz8v7c6b5n4m3k2h9";

// Answers with the number of the request, after the errors it was given.
class CountingModel final : public Model {
 public:
  explicit CountingModel(std::deque<Kind> errors = {}) : errors_(std::move(errors)) {}
  std::string name() const override { return "counting/x"; }
  ModelResult reply(const ModelRequest& request, const OnDelta&) override {
    if (!errors_.empty()) {
      const Kind kind = errors_.front();
      errors_.pop_front();
      return std::unexpected(ModelError{kind, {ErrorCode::kUnavailable, "no", {}, {}}});
    }
    ModelReply reply;
    reply.content = {
        text_block("answer " + std::to_string(++count_)),
        Value::object({{"type", "tool_use"},
                       {"id", "c"},
                       {"name", "Read"},
                       {"input", Value::object({{"path", tree + "/a.txt"}, {"of", request.requester.session}})}})};
    reply.mark = "script/1";
    return reply;
  }
  std::string tree = "/trees/one";

 private:
  std::deque<Kind> errors_;
  int count_ = 0;
};

class CassetteTest : public testing::Test {
 protected:
  static ModelRequest asking(const std::string& text, const std::string& session, int turn) {
    ModelRequest request = plain_request();
    request.messages[0].content = {text_block(text)};
    request.requester = {
        .run = "run-1", .session = session, .workflow = "wr.w", .role = "coder", .step = "s", .turn = turn};
    return request;
  }
  std::shared_ptr<Cassette> cassette(const std::string& run, const std::string& tree) {
    auto made = std::make_shared<Cassette>(*store, run);
    made->name(tree, "work tree");
    return made;
  }
  std::size_t rows() {
    return store->read([](store::Snapshot& snapshot) { return snapshot.list("cassettes", {.prefix = "run-1/"}); })
        ->size();
  }

  store::TempSqliteStore place;
  std::unique_ptr<store::Store> store = std::move(*place.open());
};

TEST_F(CassetteTest, ReplaysARunInAnotherTreeWithOtherIds) {
  const auto recording = make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/trees/one"));
  const std::string long_text = " " + std::string(1'000, 'x');
  for (int turn = 1; turn <= 3; ++turn) {
    ASSERT_TRUE(recording->reply(asking("in /trees/one/src of " + std::string(kIdA) + long_text, kIdA, turn), {}));
  }
  const auto replaying = make_replaying_model("replay", cassette("run-1", "/elsewhere/two"));
  std::string heard;
  for (int turn = 1; turn <= 3; ++turn) {
    const ModelResult replied =
        replaying->reply(asking("in /elsewhere/two/src of " + std::string(kIdB) + long_text, kIdB, turn),
                         [&](auto text) { return heard += text, true; });
    ASSERT_TRUE(replied) << replied.error().error.to_string();
    EXPECT_EQ(replied->content[0].string_at("text"), "answer " + std::to_string(turn)) << "in the recorded order";
    EXPECT_EQ(replied->content[1]["input"].string_at("path"), "/elsewhere/two/a.txt");
    EXPECT_EQ(replied->content[1]["input"].string_at("of"), kIdB);
    EXPECT_EQ(replied->mark, "");
  }
  EXPECT_EQ(heard, "answer 1answer 2answer 3");
}

TEST_F(CassetteTest, KeepsNoKnownSecretInAnyForm) {
  const std::string key = "k3y-of/the+model";
  Cassette recording(*store, "run-1", {key});
  Value request = Value::object(), result = Value::object();
  int count = 0;
  for (const std::string& form : secret_forms(key)) {
    request.set("in" + std::to_string(++count), "before " + form + " after");
    result.set(form, Value::array({form}));
  }
  ASSERT_TRUE(recording.put("model", request, result));
  const std::string all = to_json(*Cassette(*store, "run-1").to_document());
  for (const std::string& form : secret_forms(key)) EXPECT_EQ(all.find(form), std::string::npos) << form;
  EXPECT_TRUE(*Cassette(*store, "run-1", {key}).take("model", request)) << "found again by the redacted request";
}

// Stored by an older program.
TEST_F(CassetteTest, RedactsWhatItExports) {
  const std::string key = "k3y-of/the+model";
  const Value request = Value::object({{"text", "it is " + key}});
  ASSERT_TRUE(Cassette(*store, "run-1").put("model", request, Value::object({{"reply", key}})));
  const auto document = Cassette(*store, "run-1", {key}).to_document();
  ASSERT_TRUE(document);
  EXPECT_EQ(to_json(*document).find(key), std::string::npos);
  EXPECT_TRUE(Cassette(*store, "run-2").import(*document)) << "its hashes fit";
}

TEST_F(CassetteTest, StopsAtTheFirstUnknownRequestAndShowsWhy) {
  const auto recording = make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"));
  ASSERT_TRUE(recording->reply(asking("one\ntwo\nthree", kIdA, 1), {}));
  ASSERT_TRUE(recording->reply(asking("later", kIdA, 2), {}));
  const auto replaying = make_replaying_model("replay", cassette("run-1", "/u"));
  const ModelResult replied = replaying->reply(asking("one\nTWO\x1b[2J\nthree", kIdB, 1), {});
  ASSERT_FALSE(replied);
  EXPECT_EQ(replied.error().kind, Kind::kDiverged);
  EXPECT_EQ(replied.error().error.message,
            "The replay made a model request that was not recorded (workflow wr.w, step s, turn 1). Recorded there "
            "(run-1/00000001):\n  /messages/0/content/0/text, line 2\n    - two\n    + TWO\xEF\xBF\xBD[2J\n");
  const ModelResult second = replaying->reply(asking("sooner", kIdB, 2), {});
  EXPECT_TRUE(second.error().error.message.contains("- later\n    + sooner")) << second.error().error.message;
}

TEST_F(CassetteTest, SurvivesTheCollectionOfUnusedBlobs) {
  const std::string long_text(1'000, 'x');
  ASSERT_TRUE(make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"))
                  ->reply(asking(long_text, kIdA, 1), {}));
  EXPECT_EQ(engine::collect_garbage(*store, false, nullptr)->blobs, 0);
  EXPECT_TRUE(make_replaying_model("replay", cassette("run-1", "/t"))->reply(asking(long_text, kIdB, 1), {}));
}

TEST_F(CassetteTest, ReportsWhenNothingIsLeft) {
  const auto recording = make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"));
  ASSERT_TRUE(recording->reply(asking("one", kIdA, 1), {}));
  const auto replaying = make_replaying_model("replay", cassette("run-1", "/t"));
  ASSERT_TRUE(replaying->reply(asking("one", kIdA, 1), {}));
  const ModelResult replied = replaying->reply(asking("one", kIdA, 1), {});
  ASSERT_FALSE(replied);
  EXPECT_TRUE(replied.error().error.message.contains("Nothing more of this kind was recorded in run-1"));
}

TEST_F(CassetteTest, ReplacesAnAnswerLostInACrash) {
  const ModelRequest request = asking("one", kIdA, 1);
  ASSERT_TRUE(make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"))->reply(request, {}));
  // After the restart, in a new object.
  auto counting = std::make_unique<CountingModel>();
  ASSERT_TRUE(counting->reply(request, {}));
  ASSERT_TRUE(make_recording_model(std::move(counting), cassette("run-1", "/t"))->reply(request, {}));
  EXPECT_EQ(rows(), 1u);
  const ModelResult replied = make_replaying_model("replay", cassette("run-1", "/t"))->reply(request, {});
  EXPECT_EQ(replied->content[0].string_at("text"), "answer 2");
}

TEST_F(CassetteTest, RecordsPermanentErrorsAndDropsTemporaryOnes) {
  const auto recording =
      make_recording_model(std::make_unique<CountingModel>(
                               std::deque{Kind::kOverloaded, Kind::kContextTooLong, Kind::kStopped, Kind::kTruncated}),
                           cassette("run-1", "/t"));
  for (int turn = 1; turn <= 5; ++turn) (void)recording->reply(asking("one", kIdA, turn), {});
  const auto replaying = make_replaying_model("replay", cassette("run-1", "/t"));
  EXPECT_EQ(replaying->reply(asking("one", kIdA, 1), {}).error().kind, Kind::kContextTooLong);
  EXPECT_EQ(replaying->reply(asking("one", kIdA, 2), {}).error().kind, Kind::kStopped);
  EXPECT_TRUE(replaying->reply(asking("one", kIdA, 3), {}));
  EXPECT_EQ(replaying->reply(asking("one", kIdA, 4), {}).error().kind, Kind::kDiverged);
}

TEST_F(CassetteTest, ReplacesAnInterruptedRequestByItsRetry) {
  const auto recording =
      make_recording_model(std::make_unique<CountingModel>(std::deque{Kind::kStopped}), cassette("run-1", "/t"));
  EXPECT_FALSE(recording->reply(asking("one", kIdA, 1), {}));
  EXPECT_TRUE(recording->reply(asking("one", kIdA, 1), {}));
  const auto replaying = make_replaying_model("replay", cassette("run-1", "/t"));
  EXPECT_TRUE(replaying->reply(asking("one", kIdA, 1), {}));
}

TEST_F(CassetteTest, SeparatesForgeExchangesFromModelExchanges) {
  const Value request =
      Value::object({{"method", "POST"}, {"path", "/repos/a/b/pulls"}, {"branch", "r-" + std::string(26, 'a')}});
  const auto one = cassette("run-1", "/t");
  ASSERT_TRUE(one->put("forge", request, Value::object({{"id", 7}})));
  ASSERT_TRUE(one->put("forge", request, Value::object({{"id", 8}})));
  ASSERT_TRUE(one->put("forge", "a plain text", Value()));
  const auto two = cassette("run-1", "/t");
  EXPECT_EQ(*two->take("model", request), std::nullopt);
  EXPECT_EQ(to_json(**two->take("forge", request)), R"({"id":7})");
  EXPECT_EQ(to_json(**two->take("forge", request)), R"({"id":8})");
  EXPECT_EQ(*two->take("forge", request), std::nullopt);
  EXPECT_EQ(**two->take("forge", "a plain text"), Value());
  EXPECT_EQ(*cassette("run-2", "/t")->take("forge", request), std::nullopt);
}

TEST_F(CassetteTest, ExportsAndImportsWithChecks) {
  const auto recording = make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"));
  for (int turn = 1; turn <= 3; ++turn) {
    ASSERT_TRUE(recording->reply(asking(std::string(5'000, 'y') + std::to_string(turn), kIdA, turn), {}));
  }
  auto document = cassette("run-1", "/t")->to_document();
  ASSERT_TRUE(document) << document.error().to_string();
  auto read = parse_json(to_json(*document));
  ASSERT_TRUE(read);
  ASSERT_TRUE(cassette("copy", "/t")->import(*read));
  EXPECT_TRUE(make_replaying_model("replay", cassette("copy", "/v"))
                  ->reply(asking(std::string(5'000, 'y') + "2", kIdB, 2), {}));
  EXPECT_EQ(cassette("copy", "/t")->import(*read).error().code, ErrorCode::kConflict);

  const auto refused = [&](const std::function<void(Value&)>& change) {
    Value changed = *document;
    change(changed);
    const Status imported = cassette("other", "/t")->import(changed);
    return imported ? "taken" : imported.error().to_string();
  };
  EXPECT_TRUE(refused([](Value& value) { value.set("v", 2); }).contains("/v"));
  EXPECT_TRUE(refused([](Value& value) { value.set("parts", Value::object()); }).contains("missing"));
  EXPECT_TRUE(refused([](Value& value) { value.find("parts")->members()[0].value = "x"; }).contains("/parts/"));
  EXPECT_TRUE(
      refused([](Value& value) { value.find("exchanges")->items()[1].set("hash", "x"); }).contains("/exchanges/1"));
  EXPECT_TRUE(
      refused([](Value& value) { value.find("exchanges")->items()[0].set("request", 3); }).contains("/exchanges/0"));
  EXPECT_TRUE(refused([](Value& value) { value = Value("x"); }).contains("Unsupported cassette version"));
  EXPECT_EQ(*cassette("other", "/t")->take("model", Value()), std::nullopt) << "the import is atomic";
}

TEST_F(CassetteTest, StoresRepeatedPartsOfRequestsOnce) {
  const auto recording = make_recording_model(std::make_unique<CountingModel>(), cassette("run-1", "/t"));
  ModelRequest request = asking("start", kIdA, 1);
  for (int turn = 1; turn <= 40; ++turn) {
    request.requester.turn = turn;
    request.messages.push_back(
        {Message::From::kAssistant, {text_block(std::string(20'000, 'a' + turn % 26) + std::to_string(turn))}});
    ASSERT_TRUE(recording->reply(request, {}));
  }
  std::size_t bytes = 0;
  ASSERT_TRUE(store->read([&](store::Snapshot& snapshot) -> Status {
    for (const Digest& digest : SB_TRY(snapshot.blobs({}, 10'000))) bytes += SB_TRY(snapshot.blob(digest))->size();
    return {};
  }));
  EXPECT_LT(bytes, 40u * 20'000 * 2) << "linear, not quadratic";
}

TEST(StableNamesTest, ReplacesOnlyValuesThatDiffer) {
  Normalizer same({{"/w", "workspace"}, {"/w/tree", "work tree"}, {"", "empty"}});
  const std::string hash(40, 'a');
  const Value named = same.normalized(std::string("/w/tree/x /w/y ") + kIdA + " " + kIdB + " " + kIdA + " " + hash +
                                      " as-if " + std::string(39, 'a') + " x" + kIdA + "z under_score");
  EXPECT_EQ(named.as_string(), "⟨work tree⟩/x ⟨workspace⟩/y ⟨s 1⟩ ⟨s 2⟩ ⟨s 1⟩ ⟨hash 1⟩ as-if " + std::string(39, 'a') +
                                   " x" + kIdA + "z under_score");
  EXPECT_EQ(same.denormalized(named).as_string().substr(0, 14), "/w/tree/x /w/y");
  EXPECT_EQ(same.denormalized(Value("⟨s 2⟩ ⟨s 9⟩ ⟨")).as_string(), std::string(kIdB) + " ⟨s 9⟩ ⟨");
}

}  // namespace
}  // namespace sb::agent
