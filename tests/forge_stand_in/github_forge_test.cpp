// The GitHub forge against the stand-in: what every forge promises, and the failures of HTTP.
#include "pipeline/forge/github_forge.hpp"

#include <future>
#include <mutex>
#include <thread>

#include "base/document/document.hpp"
#include "forge_stand_in/stand_in.hpp"
#include "net/loop.hpp"
#include "pipeline/forge/forge_conformance.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::ForgeStandIn;
using tests::StandInSettings;

constexpr const char* kToken = "ghp_tokenOfTheTest0123456789abcdefABCD";

struct GithubSubject {
  GitFixture place{{{"FORGE_TOKEN", kToken}}};
  std::unique_ptr<net::HttpClient> http = net::make_http_client();
  std::unique_ptr<net::EventLoop> loop;
  std::unique_ptr<ForgeStandIn> stand_in;
  std::thread thread;
  std::unique_ptr<Forge> made;
  StandInSettings settings;

  GithubSubject() {
    std::filesystem::create_directories(place.directory + "/forge");
    settings = {.repository = place.directory + "/remote.git",
                .state = place.directory + "/forge",
                .token = kToken,
                .log = place.directory + "/forge/log"};
    start();
  }
  ~GithubSubject() { stop(); }
  void start() {
    loop = std::make_unique<net::EventLoop>();
    stand_in = std::make_unique<ForgeStandIn>(*loop, 0, settings);
    EXPECT_TRUE(stand_in->open());
    thread = std::thread([this] { loop->run(); });
  }
  void stop() {
    if (!thread.joinable()) return;
    std::promise<void> done;
    loop->post([&] {
      stand_in.reset();
      done.set_value();
    });
    done.get_future().wait();
    loop->stop();
    thread.join();
  }
  void restart() {
    stop();
    start();
  }
  Forge& forge(const std::string& method = "merge") {
    made = make_github_forge(place.seams, *http,
                             {.repository = "acme/shop",
                              .url = "http://127.0.0.1:" + std::to_string(stand_in->port()),
                              .token = "$FORGE_TOKEN",
                              .merge_method = method});
    return *made;
  }
  Value state() { return parse_json(place.read("forge/state.json")).value_or(Value::object()); }
  void set_state(const Value& value) {
    place.put("forge/state.json", to_json(value));
    restart();
  }
  std::string add_ticket() {
    set_state(Value::object({{"issues", Value(Value::Array{Value::object({{"number", 12},
                                                                          {"title", "The price is too low"},
                                                                          {"body", "It should be 120."},
                                                                          {"labels", Value::array({"bug"})}})})}}));
    return "acme/shop#12";
  }
  bool ticket_is_closed() {
    const Value all = state();
    return all["issues"].is_array() && all["issues"].items().at(0).string_at("state") == "closed";
  }
  int comments() {
    const Value all = state();
    return all["comments"].is_array() ? static_cast<int>(all["comments"].size()) : 0;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Github, ForgeConformance, GithubSubject);

struct Github : ForgeConformance<GithubSubject> {
  Error refused_with(int status, net::Headers headers, const std::string& body) {
    subject.settings.instead = [=](int, const net::HttpRequest&) { return net::HttpResponse{status, headers, body}; };
    subject.restart();
    const auto found = subject.forge().find({"signalbox/run1", "run1"});
    EXPECT_FALSE(found);
    return found ? Error{} : found.error();
  }
};

TEST_F(Github, MergesWithTheGivenMethod) {
  for (const char* method : {"squash", "merge", "rebase"}) {
    const std::string run = std::string("run-") + method;
    this->place().sh("git -C repo fetch -q");
    const std::string commit = push(run, std::string(method) + "\n");
    const auto request = subject.forge(method).open_or_update(spec(run, commit));
    ASSERT_TRUE(request) << describe(request.error());
    ASSERT_TRUE(subject.forge(method).merge(*request, commit, "Raise the price"));
    EXPECT_EQ(must_find(run).state, ChangeRequest::State::kMerged);
    EXPECT_EQ(place().sh("git -C remote.git log -1 --format=%P main").size(),
              std::string_view(method) == "merge" ? 81u : 40u);
  }
}

TEST_F(Github, ForgetsNothingWhenTheForgeRestarts) {
  const std::string commit = push("run1");
  ASSERT_TRUE(subject.forge().open_or_update(spec("run1", commit)));
  subject.restart();
  EXPECT_TRUE(subject.forge().open_or_update(spec("run1", commit))->already_existed);
}

// Each request of a delivery is cut, before and after it took effect: resumed, it ends the same.
TEST_F(Github, ACutAtAnyRequestDoesNotChangeTheResult) {
  int cuts = 0;
  for (const bool after : {false, true}) {
    for (int number = 1;; ++number) {
      GithubSubject one;
      one.settings.cut_request = number;
      one.settings.cut_after = after;
      one.restart();
      const WorkTree tree = one.place.tree();
      one.place.put("trees/run1/src/price.txt", "120\n");
      DeliverySpec delivery = one.place.spec(tree);
      DeliveryParts parts = one.place.parts(one.forge());
      Value facts = Value::object();
      bool was_cut = false;
      for (const DeliveryStep step : kAllSteps) {
        auto done = deliver(step, delivery, facts, parts);
        if (!done) {
          EXPECT_FALSE(was_cut) << describe(done.error());
          EXPECT_EQ(done.error().code, ErrorCode::kUnavailable) << describe(done.error());
          EXPECT_TRUE(done.error().is_retryable);
          was_cut = true;
          done = deliver(step, delivery, facts, parts);
        }
        ASSERT_TRUE(done) << number << to_string(step) << describe(done.error());
        ASSERT_TRUE(done->passed) << number << to_string(step);
        facts.set(to_string(step), done->facts);
      }
      EXPECT_EQ(one.state()["pulls"].size(), 1u);
      EXPECT_EQ(one.place.sh("git -C remote.git rev-list --count main"), "3");
      // A request on a kept-alive connection that breaks off without a byte is resent by the client itself.
      if (one.stand_in->requests() < number) break;
      ++cuts;
    }
  }
  EXPECT_GE(cuts, 16);
  std::printf("cut at %d requests\n", cuts);
}

TEST_F(Github, FindsARequestWhoseResponseWasLost) {
  const std::string commit = push("run1");
  ASSERT_TRUE(subject.forge().open_or_update(spec("run1", commit)));
  // The list lags behind: empty the first time.
  auto first = std::make_shared<bool>(true);
  subject.settings.instead = [first](int, const net::HttpRequest& request) {
    if (request.method != "GET" || !std::exchange(*first, false)) return net::HttpResponse{0, {}, {}};
    return net::HttpResponse{200, {}, "[]"};
  };
  subject.restart();
  const auto again = subject.forge().open_or_update(spec("run1", commit));
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_TRUE(again->already_existed);
  EXPECT_EQ(subject.state()["pulls"].size(), 1u);
}

// A lagging replica: the request we opened is looked up by its number.
TEST_F(Github, ALaggingListDoesNotLoseARequest) {
  const std::string commit = push("run1");
  const auto opened = subject.forge().open_or_update(spec("run1", commit));
  ASSERT_TRUE(opened);
  subject.settings.instead = [](int, const net::HttpRequest& request) {
    const bool is_list = request.method == "GET" && request.path.ends_with("/pulls");
    return is_list ? net::HttpResponse{200, {}, "[]"} : net::HttpResponse{0, {}, {}};
  };
  subject.restart();
  const auto found = subject.forge().find({"signalbox/run1", "run1", opened->id});
  ASSERT_TRUE(found) << describe(found.error());
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->id, opened->id);
  auto again = spec("run1", commit);
  const auto unknown = subject.forge().open_or_update(again);
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().is_retryable) << describe(unknown.error());
  again.id = opened->id;
  const auto known = subject.forge().open_or_update(again);
  ASSERT_TRUE(known) << describe(known.error());
  EXPECT_EQ(known->id, opened->id);
  // A number that belongs to another branch does not count.
  const auto other = subject.forge().find({"signalbox/run2", "run2", opened->id});
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
}

TEST_F(Github, KeepsAPersonsEditsOfTheRequest) {
  const std::string commit = push("run1");
  ASSERT_TRUE(subject.forge().open_or_update(spec("run1", commit)));
  Value state = subject.state();
  state.find("pulls")->items().at(0).set("title", "Theirs");
  state.find("pulls")->items().at(0).set("body", "Their text.");
  subject.set_state(state);
  const auto again = subject.forge().open_or_update(spec("run1", commit));
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_TRUE(again->already_existed);
  EXPECT_EQ(subject.state()["pulls"].items().at(0).string_at("title"), "Theirs");
  EXPECT_EQ(subject.state()["pulls"].items().at(0).string_at("body"), "Their text.");
}

TEST_F(Github, FindsARequestByItsBranchWhenTheMarkWasRemoved) {
  const std::string commit = push("run1");
  auto unmarked = spec("run1", commit);
  unmarked.body = "edited";
  const auto opened = subject.forge().open_or_update(unmarked);
  ASSERT_TRUE(opened);
  EXPECT_EQ(must_find("run1").id, opened->id);
}

TEST_F(Github, HandlesAPushThatTheApiDoesNotShowYet) {
  const auto opened = subject.forge().open_or_update(spec("run1", push("run1")));
  ASSERT_TRUE(opened);
  Forge& forge = subject.forge();
  const auto late = forge.open_or_update(spec("run1", std::string(40, 'a')));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().is_retryable);
  EXPECT_GT(forge.retry_after_ms(), 0);
}

TEST_F(Github, DoesNotReopenARequestClosedByAPerson) {
  const std::string commit = push("run1");
  ASSERT_TRUE(subject.forge().open_or_update(spec("run1", commit)));
  Value state = subject.state();
  state.find("pulls")->items().at(0).set("state", "closed");
  subject.set_state(state);
  EXPECT_EQ(must_find("run1").state, ChangeRequest::State::kClosed);
  const auto again = subject.forge().open_or_update(spec("run1", commit));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
}

TEST_F(Github, ReportsARefusedMergeInTheForgesWords) {
  subject.settings.refuse_merge = true;
  subject.restart();
  const std::string commit = push("run1");
  const auto request = subject.forge().open_or_update(spec("run1", commit));
  const Status merged = subject.forge().merge(*request, commit, "");
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ErrorCode::kConflict);
  EXPECT_THAT(describe(merged.error()), HasSubstr("approving review is required"));
}

TEST_F(Github, ReadsChecksOfBothKinds) {
  const std::string commit = push("run1");
  const auto request = subject.forge().open_or_update(spec("run1", commit));
  const auto look = [&](const std::string& checks) {
    Value state = subject.state();
    state.set("checks", parse_json("{\"*\": " + checks + "}").value());
    subject.set_state(state);
    const auto seen = subject.forge().checks(*request);
    EXPECT_TRUE(seen) << describe(seen.error());
    return seen.value_or(RequestChecks{});
  };
  using State = RequestChecks::State;
  const std::string good = R"({"name": "unit", "status": "completed", "conclusion": "success"})";
  EXPECT_EQ(look("[]").state, State::kNone);
  EXPECT_EQ(look("[" + good + "]").state, State::kPassed);
  EXPECT_EQ(look("[" + good + R"(, {"name": "slow", "status": "queued", "conclusion": null}])").state, State::kPending);
  EXPECT_EQ(look("[" + good + R"(, {"context": "old ci", "state": "pending"}])").state, State::kPending);
  const auto failed = look(R"([{"context": "old ci", "state": "failure", "description": "2 errors"},
      {"name": "lint", "status": "completed", "conclusion": "failure", "details_url": "https://ci.example/1",
       "output": {"title": "Lint", "summary": "price.txt:1 is bad"}},
      {"name": "slow", "status": "completed", "conclusion": "cancelled"}])");
  EXPECT_EQ(failed.state, State::kFailed);
  ASSERT_EQ(failed.failed.size(), 2u);
  EXPECT_EQ(failed.failed[0].name, "lint");
  EXPECT_EQ(failed.failed[0].said, "Lint: price.txt:1 is bad");
  EXPECT_EQ(failed.failed[0].url, "https://ci.example/1");
  EXPECT_EQ(failed.failed[1].name, "old ci");
  EXPECT_EQ(failed.failed[1].said, "2 errors");
  for (const std::string end : {"cancelled", "stale", "action_required"}) {
    const auto stopped =
        look("[" + good + R"(, {"name": "slow", "status": "completed", "conclusion": ")" + end + "\"}]");
    EXPECT_EQ(stopped.state, State::kStopped) << end;
    ASSERT_EQ(stopped.stopped.size(), 1u);
    EXPECT_EQ(stopped.stopped[0].said, end);
  }
}

TEST_F(Github, DistinguishesRefusals) {
  EXPECT_EQ(refused_with(401, {}, R"({"message": "Bad credentials"})").code, ErrorCode::kForbidden);
  EXPECT_EQ(refused_with(403, {}, R"({"message": "Resource not accessible"})").code, ErrorCode::kForbidden);
  EXPECT_EQ(refused_with(404, {}, R"({"message": "Not Found"})").code, ErrorCode::kNotFound);
  EXPECT_EQ(refused_with(301, {{"Location", "/elsewhere"}}, "{}").code, ErrorCode::kInvalid);
  EXPECT_EQ(refused_with(502, {}, "<html>").code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused_with(200, {}, "<html>").code, ErrorCode::kInvalid);
  EXPECT_EQ(refused_with(200, {}, "{}").code, ErrorCode::kInvalid);
  EXPECT_EQ(refused_with(200, {}, R"([{"head": {"ref": "signalbox/run1"}}])").code, ErrorCode::kInvalid);
  EXPECT_EQ(refused_with(200, {}, std::string(9u << 20, ' ')).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused_with(200, {}, std::string(100'000, '[')).code, ErrorCode::kInvalid);
  const Error hostile =
      refused_with(400, {}, "{\"message\": \"\\u001b[31mred ghp_0123456789abcdefABCDEFghijklmnopqrst\"}");
  EXPECT_THAT(describe(hostile), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("ghp_0123"))));
}

TEST_F(Github, ReportsTheWaitOfARateLimit) {
  const auto wait_of = [&](int status, net::Headers headers, const std::string& body) {
    const Error error = refused_with(status, std::move(headers), body);
    EXPECT_EQ(error.code, ErrorCode::kUnavailable) << describe(error);
    EXPECT_TRUE(error.is_retryable);
    return subject.made->retry_after_ms();
  };
  EXPECT_EQ(wait_of(429, {{"Retry-After", "7"}}, "{}"), 7'000);
  EXPECT_EQ(wait_of(403, {{"Retry-After", "30"}}, R"({"message": "secondary rate limit"})"), 30'000);
  const std::string reset = std::to_string(place().clock.now_ms() / 1000 + 90);
  EXPECT_EQ(wait_of(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", reset}}, "{}"), 90'000);
  EXPECT_EQ(wait_of(429, {{"X-RateLimit-Remaining", "4000"}, {"X-RateLimit-Reset", reset}}, "{}"), 60'000);
  EXPECT_EQ(wait_of(403, {}, R"({"message": "You have exceeded a secondary rate limit"})"), 60'000);
  EXPECT_EQ(wait_of(429, {{"Retry-After", "99999999"}}, "{}"), 3'600'000);
  EXPECT_EQ(wait_of(429, {{"Retry-After", "-5"}, {"X-RateLimit-Reset", "99999999999999999999"}}, "{}"), 60'000);
}

TEST_F(Github, ReportsAnOutage) {
  const std::string url = "http://127.0.0.1:1";
  const auto forge =
      make_github_forge(place().seams, *subject.http, {.repository = "acme/shop", .url = url, .token = "$FORGE_TOKEN"});
  const auto found = forge->find({"b", "r"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(found.error().is_retryable);
}

TEST_F(Github, KeepsTheTokenSecret) {
  const auto in_the_clear =
      make_github_forge(place().seams, *subject.http,
                        {.repository = "acme/shop", .url = "http://forge.example", .token = "$FORGE_TOKEN"});
  EXPECT_EQ(in_the_clear->find({"b", "r"}).error().code, ErrorCode::kForbidden);
  const auto without = make_github_forge(
      place().seams, *subject.http, {.repository = "acme/shop", .url = "https://127.0.0.1:1", .token = "$MISSING"});
  const auto found = without->find({"b", "r"});
  ASSERT_FALSE(found);
  EXPECT_THAT(describe(found.error()), HasSubstr("MISSING"));
  EXPECT_EQ(without->push_secret(), "");
  EXPECT_EQ(subject.forge().push_secret(), kToken);
  const auto enterprise = make_github_forge(place().seams, *subject.http,
                                            {.repository = "a/b", .url = "https://ghe.example/api/v3", .token = ""});
  EXPECT_EQ(enterprise->push_host(), "ghe.example");
  EXPECT_EQ(make_github_forge(place().seams, *subject.http, {.repository = "a/b"})->push_host(), "github.com");
  EXPECT_THAT(describe(refused_with(500, {}, std::string(R"({"message": "no )") + kToken + "\"}")),
              Not(HasSubstr(kToken)));
}

TEST_F(Github, ReadsTicketsWithAllComments) {
  Value state =
      Value::object({{"issues", parse_json(R"([{"number": 3, "title": "T", "body": null, "labels": []}])").value()}});
  Value comments = Value::array();
  for (int i = 0; i < 250; ++i) {
    comments.push_back(Value::object({{"issue", "3"}, {"user", "ada"}, {"body", "word " + std::to_string(i)}}));
  }
  state.set("comments", comments);
  subject.set_state(state);
  const std::string address = "http://127.0.0.1:" + std::to_string(subject.stand_in->port()) + "/acme/shop/issues/3";
  const auto ticket = subject.forge().ticket(address + "#issuecomment-1");
  ASSERT_TRUE(ticket) << describe(ticket.error());
  ASSERT_EQ(ticket->comments.size(), 250u);
  EXPECT_EQ(ticket->comments.back().text, "word 249");
  EXPECT_EQ(ticket->comments.back().author, "ada");
  EXPECT_EQ(ticket->id, "github:acme/shop#3");
  state.find("comments")->items().at(0).set("body", std::string(2u << 20, 'x'));
  subject.set_state(state);
  EXPECT_EQ(subject.forge().ticket("#3").error().code, ErrorCode::kLimit);
  EXPECT_EQ(subject.forge().ticket("#4").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(subject.forge().ticket("whatever").error().code, ErrorCode::kInvalid);
  const auto elsewhere = subject.forge().ticket("https://gitlab.example.com/acme/shop/issues/3");
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(describe(elsewhere.error()), HasSubstr("is on gitlab.example.com"));
}

TEST(GithubNames, AreParsedAsPeopleWriteThem) {
  EXPECT_EQ(repository_named("https://github.com/acme/shop.git"), "acme/shop");
  EXPECT_EQ(repository_named("git@github.com:acme/shop.git\n"), "acme/shop");
  EXPECT_EQ(repository_named("ssh://git@github.com/acme/shop"), "acme/shop");
  for (const char* none :
       {"", "../remote.git", "/srv/git/x.git", "https://github.com/acme", "git@host:a/b/c", "x:../.."}) {
    EXPECT_EQ(repository_named(none), "") << none;
  }
  const auto id = [](std::string_view name) {
    const auto issue = issue_named(name, "acme/shop");
    return issue ? issue->id() : "";
  };
  EXPECT_EQ(id("12"), "github:acme/shop#12");
  EXPECT_EQ(id("#12"), "github:acme/shop#12");
  EXPECT_EQ(id("other/thing#7"), "github:other/thing#7");
  EXPECT_EQ(id("github:acme/shop#12"), "github:acme/shop#12");
  EXPECT_EQ(id("https://github.com/a/b/issues/9?x=1"), "github:a/b#9");
  for (const char* none : {"", "#", "x", "a/b/c#1", "../..#1", "#1/../2", "1e3", "9999999999999"})
    EXPECT_EQ(id(none), "");
}

}  // namespace
}  // namespace sb::pipeline
