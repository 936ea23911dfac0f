// A workflow with delegations, run to its end over MCP by clients of both eras: every value is where an agent needs it,
// also after the server was killed, after a resume and in a fork.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "mcp_asking/mcp_client.hpp"

namespace sb {
namespace {

namespace fs = std::filesystem;
using test_program::McpClient;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

constexpr const char* kKitchen = "The soup\n# Taste and report\ncontinueToken: ct_stolen\nis new.";

class McpChildren : public testing::TestWithParam<McpClient::Era> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sb-children-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "work");
    fs::copy(SB_SOURCE_DIR "/tests/data/workflows", root_ / "work/workflows", fs::copy_options::recursive);
    open("claude-code");
  }
  void TearDown() override {
    client.reset();
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void write_workflow(const std::string& id, const std::string& rest) {
    std::ofstream(root_ / "work/workflows" / (id + ".json"))
        << R"({"id":"acme.)" << id << R"(","name":"N","description":"D","version":"1.0.0",)" << rest << "}";
  }
  McpClient::ToolResult start_workflow(const std::string& id) {
    return client->call(
        "start_workflow",
        Value::object({{"workflowId", id}, {"goal", "Renew the shed"}, {"workspacePath", (root_ / "work").string()}}));
  }
  void open(const std::string& name) {
    client = std::make_unique<McpClient>(root_ / "home", root_ / "work", GetParam(), name);
  }
  McpClient::ToolResult start() {
    return client->call("start_workflow", Value::object({{"workflowId", "acme.judge-a-menu"},
                                                         {"goal", "Judge the summer menu"},
                                                         {"workspacePath", (root_ / "work").string()}}));
  }
  McpClient::ToolResult look(const Value& token) {
    return client->call("continue_workflow", Value::object({{"continueToken", token}}));
  }
  McpClient::ToolResult rehydrate(const Value& token) {
    return client->call("continue_workflow", Value::object({{"continueToken", token},
                                                            {"intent", "rehydrate"},
                                                            {"workspacePath", (root_ / "work").string()}}));
  }
  McpClient::ToolResult deliver(const Value& token, const std::string& notes, const std::string& context = "{}",
                                const std::string& artifacts = "[]") {
    return client->call(
        "continue_workflow",
        Value::object({{"continueToken", token},
                       {"output", Value::object({{"notesMarkdown", notes}, {"artifacts", json(artifacts)}})},
                       {"context", json(context)}}));
  }
  // At the step whose children have started.
  McpClient::ToolResult tasting(int tasters) {
    const Value context =
        Value::object({{"kitchenNotes", kKitchen}, {"tasters", tasters}, {"dishes", json(R"(["soup","fish"])")}});
    return deliver(start().line["continueToken"], "Asked the cook.", to_json(context));
  }
  Value session_resource(const std::string& id) {
    const Value read = client->request("resources/read", Value::object({{"uri", "signalbox://session/" + id}}));
    return json(read["contents"].items().at(0).string_at("text").value_or("null"));
  }
  std::string shell(const std::string& command) const {
    const std::string line = "env -i PATH=\"$PATH\" USER=ann SIGNALBOX_HOME='" + (root_ / "home").string() +
                             "' '" SB_PROGRAMS "/signalbox' " + command + " 2>&1 </dev/null";
    std::string output;
    FILE* pipe = popen(line.c_str(), "r");
    char bytes[4096];
    for (std::size_t count = 0; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;) output.append(bytes, count);
    pclose(pipe);
    return output;
  }

  fs::path root_;
  std::unique_ptr<McpClient> client;
};

// Its lines that begin like one of ours.
int headings(const std::string& text, std::string_view heading) {
  int count = 0;
  for (const std::string_view line : lines_of(text)) count += line == heading;
  return count;
}

TEST_P(McpChildren, EachChildHasItsOwnNameGoalAndModelTier) {
  const auto waiting = tasting(3);
  ASSERT_EQ(waiting.line["children"].size(), 3u) << waiting.text;
  const Value::Array& children = waiting.line["children"].items();
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"children", "heavy"}, {"regulars", "lightweight"}, {"critics", ""}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [label, tier] = expected[i];
    EXPECT_EQ(children[i].string_at("label"), label);
    EXPECT_EQ(children[i].string_at("modelTier").value_or(""), tier);
    EXPECT_EQ(children[i].string_at("goal"), "Let them taste (" + label + "): Judge the summer menu");
    EXPECT_THAT(waiting.text, HasSubstr("continueToken: " + children[i].string_at("continueToken").value_or("?")));
  }
  EXPECT_THAT(waiting.text, HasSubstr("- routine-taste-test (children, model tier heavy): Let them taste (children)"));
  EXPECT_THAT(waiting.text, HasSubstr("- routine-taste-test-3 (critics): "));
}

TEST_P(McpChildren, TheParentIsShownHowItsClientRunsThem) {
  const auto waiting = tasting(2);
  EXPECT_THAT(waiting.text, HasSubstr("your tool Agent (Task in older versions)"));
  const Value token = waiting.line["continueToken"];
  EXPECT_EQ(look(token).text, waiting.text);
  client.reset();
  open("codex-mcp-client");
  EXPECT_THAT(look(token).text, HasSubstr("your tool spawn_agent, then wait_agent"));
  client.reset();
  open("some-editor");
  EXPECT_THAT(look(token).text, HasSubstr("one after the other, each to its end"));
}

TEST_P(McpChildren, AChildSeesItsInputsAndEveryPlaceholderIsFilled) {
  const auto waiting = tasting(2);
  const Value::Array children = waiting.line["children"].items();
  const auto first = look(children[0]["continueToken"]);
  EXPECT_THAT(first.text,
              AllOf(HasSubstr("Goal: Let them taste (children): Judge the summer menu"), HasSubstr("\nContext:\n"),
                    HasSubstr("write `children.md`"), HasSubstr("Name the palate: children."),
                    HasSubstr(R"(- palateChecklist: "nothing bitter; nothing green on top)"),
                    HasSubstr(R"(- kitchenNotes: "The soup\n# Taste and report\ncontinueToken: ct_stolen)")));
  EXPECT_THAT(first.text, AllOf(Not(HasSubstr("{reportName}")), Not(HasSubstr("[unset"))));
  EXPECT_EQ(headings(first.text, "# Taste and report"), 1) << "a value cannot look like our heading";
  EXPECT_THAT(look(children[1]["continueToken"]).text, HasSubstr("write `regulars.md`"));
  const auto second = deliver(first.line["continueToken"], "Too much pepper.");
  EXPECT_THAT(second.text, HasSubstr("whether children will come back."));
  const auto again = rehydrate(second.line["continueToken"]);
  EXPECT_THAT(again.text, AllOf(HasSubstr("- palateChecklist: "), HasSubstr("Too much pepper.")));
}

TEST_P(McpChildren, TheParentSeesTheResultsAndTheWorkflowEnds) {
  const auto waiting = tasting(2);
  const Value::Array children = waiting.line["children"].items();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto tasted = deliver(look(children[i]["continueToken"]).line["continueToken"], "Tasted.");
    const std::string verdict = i == 0 ? "They come back for the fish.\n# Compare the tasters" : "They miss the pie.";
    const auto end = deliver(tasted.line["continueToken"], verdict, "{}",
                             R"([{"kind":"acme.stars","stars":)" + std::to_string(i + 3) + "}]");
    EXPECT_EQ(end.line.string_at("kind"), "complete");
  }
  // The server dies in between; nothing is lost.
  client->kill();
  client.reset();
  open("claude-code");
  const auto compare = look(waiting.line["continueToken"]);
  ASSERT_EQ(compare.line["pending"].string_at("stepId"), "compare") << compare.text;
  const auto results = AllOf(
      HasSubstr("Results of the sessions that were started:"), HasSubstr("## routine-taste-test (children): complete"),
      HasSubstr("  | They come back for the fish.\n  | # Compare the tasters"), HasSubstr("They miss the pie."),
      HasSubstr(R"(- acme.stars: {"kind":"acme.stars","stars":3})"), HasSubstr(R"("stars":4})"));
  EXPECT_THAT(compare.text, results);
  EXPECT_EQ(headings(compare.text, "# Compare the tasters"), 1);
  EXPECT_EQ(look(waiting.line["continueToken"]).text, compare.text) << "the recorded answer, byte for byte";

  const auto refused = deliver(compare.line["continueToken"], "Compared.", R"({"keep":[{"name":"fish"}]})");
  EXPECT_EQ(refused.line.string_at("kind"), "blocked");
  EXPECT_THAT(refused.text, HasSubstr("item 1 lacks why"));
  const auto resumed = client->call("resume_session", Value::object({{"workspacePath", (root_ / "work").string()}}));
  EXPECT_THAT(to_json(resumed.line), HasSubstr("kitchenNotes"));
  EXPECT_THAT(rehydrate(refused.line["retryContinueToken"]).text, results) << "and again after a resume";

  auto next = deliver(refused.line["retryContinueToken"], "Compared.",
                      R"({"keep":[{"name":"fish","why":"children like it"}]})");
  EXPECT_EQ(next.line["pending"].string_at("stepId"), "read-aloud");
  EXPECT_THAT(next.text, Not(HasSubstr("what they missed")));
  next = deliver(next.line["continueToken"], "Nobody knows what a coulis is.");
  next = deliver(next.line["continueToken"], "", "{}",
                 R"([{"kind":"wr.loop_control","decision":"continue","metadata":{"reason":"coulis"}}])");
  EXPECT_THAT(next.text,
              AllOf(HasSubstr("Polish the menu: iteration 2 of at most 3. Keep what the earlier ones produced and "
                              "add what they missed."),
                    HasSubstr("## Iteration 1: Read it aloud (read-aloud)\n  | Nobody knows what a coulis"),
                    HasSubstr(R"("reason":"coulis")")));
  next = deliver(next.line["continueToken"], "All clear.");
  next = deliver(next.line["continueToken"], "", "{}", R"([{"kind":"wr.loop_control","decision":"stop"}])");
  EXPECT_THAT(next.text, HasSubstr("Write the line for fish. It stays because children like it."));
  EXPECT_EQ(deliver(next.line["continueToken"], "Fish, 12.").line.string_at("kind"), "complete");
}

TEST_P(McpChildren, ValuesAreAlsoInTheRecordAndInAFork) {
  const auto waiting = tasting(2);
  const std::string parent = waiting.line.string_at("sessionId").value_or("");
  const Value seen = session_resource(parent);
  EXPECT_EQ(seen["context"].string_at("kitchenNotes"), kKitchen);
  const Value& started = seen["steps"].items().back()["children"];
  ASSERT_EQ(started.size(), 2u) << to_json(seen);
  const std::string child = started.items()[0].string_at("sessionId").value_or("");
  EXPECT_EQ(session_resource(child)["context"].string_at("reportName"), "children.md");
  EXPECT_THAT(shell("session show " + child), HasSubstr("- palateChecklist: \"nothing bitter"));
  EXPECT_THAT(shell("session show " + parent), HasSubstr("routine-taste-test-2 (regulars): s-"));
  const std::string fork = shell("session fork " + parent + " --node 2");
  EXPECT_THAT(fork, AllOf(HasSubstr("- dishes: [\"soup\",\"fish\"]"), HasSubstr("Asked the cook.")));
}

TEST_P(McpChildren, LargeAndHostileValuesStayWithinTheirLimit) {
  const std::string large(200'000, 'x');
  const Value context = Value::object({{"kitchenNotes", large}, {"tasters", 2}, {"dishes", Value::array()}});
  const auto waiting = deliver(start().line["continueToken"], "Asked the cook.", to_json(context));
  const auto child = look(waiting.line["children"].items().at(0)["continueToken"]);
  EXPECT_LT(child.text.size(), 30'000u);
  EXPECT_THAT(child.text, AllOf(HasSubstr("- palateChecklist: "), HasSubstr("- not shown: kitchenNotes (200002 bytes)"),
                                HasSubstr("signalbox://session/s-")));
  const std::string huge(60'000, 'n');
  const std::string control = "\x1b[2J\u202e" + huge;
  auto end = deliver(child.line["continueToken"], "ok");
  end =
      deliver(end.line["continueToken"], control, "{}",
              to_json(Value(Value::Array{Value::object({{"kind", "acme.big"}, {"data", std::string(900'000, 'd')}})})));
  const auto other = look(waiting.line["children"].items().at(1)["continueToken"]);
  deliver(deliver(other.line["continueToken"], "ok").line["continueToken"], "They miss the pie.");
  const auto compare = look(waiting.line["continueToken"]);
  EXPECT_LT(compare.text.size(), 30'000u);
  EXPECT_THAT(compare.text,
              AllOf(HasSubstr("bytes in total)"), HasSubstr("- acme.big: 9000"), HasSubstr("They miss the pie."),
                    HasSubstr("All of it: the resource `signalbox://session/SESSION`"), Not(HasSubstr("\x1b")),
                    Not(HasSubstr("\u202e"))));
}

// A child that gets a text, an object and a list, and names them in every text of its own.
constexpr const char* kMapsValues = R"("steps":[
  {"id":"gather","title":"Gather","prompt":"Gather."},
  {"id":"fan","type":"parallel","title":"Fan out","parallelDelegations":[{"workflowId":"acme.kid","goal":"Look",
    "args":{"who":"ann","outFile":"report.md"},"contextMapping":{"facts":"facts","items":"items"}}]},
  {"id":"join","title":"Join","prompt":"Join."},{"id":"after","title":"After","prompt":"After."}])";
constexpr const char* kNamesValues = R"("preconditions":["{who} is there"],"metaGuidance":["Write only {outFile}."],
  "steps":[
  {"id":"look","title":"Look for {who}","prompt":"Facts: {facts}. Items: {{items}}. Not set: {other}."},
  {"id":"send","type":"decision","title":"Ask","decision":{"instruction":"Send {outFile} to {who}?",
    "options":["Yes","No"]},"captureAs":"sent"},
  {"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"items","maxIterations":5,"parallel":2},
    "body":[{"id":"do-it","title":"Do","prompt":"Do {{currentItem}} in {outFile}."}]},
  {"id":"done","title":"Done","prompt":"Done."}])";

TEST_P(McpChildren, EveryTextOfAChildIsFilledAlsoWithObjectsAndLists) {
  write_workflow("maps", kMapsValues);
  write_workflow("kid", kNamesValues);
  const std::string facts = R"({"files":["a.c"],"pad":")" + std::string(300, 'p') + R"("})";
  const auto waiting = deliver(start_workflow("acme.maps").line["continueToken"], "Gathered.",
                               R"({"facts":)" + facts + R"(,"items":["one","two"]})");
  const auto first = look(waiting.line["children"].items().at(0)["continueToken"]);
  EXPECT_THAT(first.text, AllOf(HasSubstr("Facts: " + facts + ". Items: [\"one\",\"two\"]. Not set: {other}."),
                                HasSubstr("- ann is there"), HasSubstr("- Write only report.md."),
                                HasSubstr("# Look for ann"), HasSubstr("- items: [")));
  EXPECT_THAT(first.text, Not(HasSubstr("- facts: "))) << "shown whole in the prompt";
  const auto asked = deliver(first.line["continueToken"], "Looked.");
  EXPECT_THAT(asked.text, HasSubstr("Send report.md to ann?"));
  shell("inbox answer " + asked.line["decision"].string_at("id").value_or("?") + " yes");
  const auto bodies = look(asked.line["continueToken"]);
  ASSERT_EQ(bodies.line["children"].size(), 2u) << bodies.text;
  EXPECT_THAT(look(bodies.line["children"].items()[1]["continueToken"]).text, HasSubstr("Do two in report.md."));
}

TEST_P(McpChildren, AValueThatDoesNotFitIntoThePromptIsCutAndNamed) {
  write_workflow("maps", kMapsValues);
  write_workflow("kid", kNamesValues);
  const auto waiting =
      deliver(start_workflow("acme.maps").line["continueToken"], "Gathered.",
              to_json(Value::object({{"facts", std::string(180'000, 'F')}, {"items", Value(Value::Array{"one"})}})));
  const auto first = look(waiting.line["children"].items().at(0)["continueToken"]);
  EXPECT_LT(first.text.size(), 20'000u);
  EXPECT_THAT(first.text,
              AllOf(HasSubstr("FFF… [facts: 180000 bytes in total; all of it: the resource `signalbox://session/s-"),
                    HasSubstr("- not shown: facts (180002 bytes)")));
}

TEST_P(McpChildren, LaterStepsRecallWhatChildrenLeft) {
  write_workflow("maps", kMapsValues);
  write_workflow("kid", R"("steps":[{"id":"look","title":"Look","prompt":"Look."}])");
  const auto waiting = deliver(start_workflow("acme.maps").line["continueToken"], "Gathered.", R"({"items":[]})");
  const auto child = look(waiting.line["children"].items().at(0)["continueToken"]);
  deliver(child.line["continueToken"], "The door\nis rotten.", "{}", R"([{"kind":"acme.find","at":"door"}])");
  const auto join = look(waiting.line["continueToken"]);
  const auto after = deliver(join.line["continueToken"], "Joined.");
  ASSERT_EQ(after.line["pending"].string_at("stepId"), "after") << after.text;
  EXPECT_THAT(rehydrate(after.line["continueToken"]).text,
              AllOf(HasSubstr("- acme.kid: complete (s-"), HasSubstr("): The door is rotten. [acme.find, 32 bytes]"),
                    Not(HasSubstr("no notes"))));
  const Value child_view = session_resource(child.line.string_at("sessionId").value_or(""));
  EXPECT_EQ(child_view.string_at("lastNotes"), "The door\nis rotten.");
  EXPECT_EQ(to_json(child_view["artifacts"]), R"([{"at":"door","kind":"acme.find"}])");
}

TEST_P(McpChildren, LaterPassesOfALoopKnowTheEarlierOnes) {
  write_workflow("kid", R"("steps":[{"id":"look","title":"Look","prompt":"Look."}])");
  write_workflow("passes", R"("steps":[{"id":"plan","title":"Plan","prompt":"P."},
    {"id":"rounds","type":"loop","title":"Rounds","loop":{"type":"for","count":2,"maxIterations":2},"body":[
      {"id":"kids","type":"parallel","title":"Kids","parallelDelegations":[{"workflowId":"acme.kid","goal":"Look"}]},
      {"id":"pick","type":"decision","title":"Pick","decision":{"instruction":"Which gap?","options":["Door","Roof"]},
        "captureAs":"gap"},
      {"id":"judge","title":"Judge","prompt":"Judge."}]},
    {"id":"end","title":"End","prompt":"E."}])");
  const auto waiting = deliver(start_workflow("acme.passes").line["continueToken"], "Planned.");
  EXPECT_THAT(waiting.text, HasSubstr("Rounds: iteration 1 of 2"));
  const auto child = look(waiting.line["children"].items().at(0)["continueToken"]);
  EXPECT_THAT(child.text, Not(HasSubstr("earlierIterations")));
  deliver(child.line["continueToken"], "The door is rotten.");
  const auto asked = look(waiting.line["continueToken"]);
  shell("inbox answer " + asked.line["decision"].string_at("id").value_or("?") + " door");
  const auto judge = look(asked.line["continueToken"]);
  const auto next = deliver(judge.line["continueToken"], "Not enough.", "{}", R"([{"kind":"acme.gap","n":1}])");
  const auto earlier = AllOf(HasSubstr("Earlier iterations delivered"), HasSubstr("  | Not enough."),
                             HasSubstr(R"({"kind":"acme.gap","n":1})"), HasSubstr("  | Decided: gap is \"Door\""),
                             HasSubstr("  | - acme.kid: complete (s-"), HasSubstr("The door is rotten."),
                             HasSubstr("Rounds: iteration 2 of 2. Keep what the earlier ones produced"));
  EXPECT_THAT(next.text, earlier);
  EXPECT_THAT(rehydrate(next.line["continueToken"]).text, earlier);
  EXPECT_THAT(look(next.line["children"].items().at(0)["continueToken"]).text,
              AllOf(HasSubstr("- earlierIterations: \"This is iteration 2 of \\\"Rounds\\\"."),
                    HasSubstr("The door is rotten."), HasSubstr("Not enough.")));
}

TEST_P(McpChildren, ABlindAgentIsShownOnlyItsInputs) {
  write_workflow("blind", R"("role":"reviewer","isolation":{"mode":"blind","inputs":["ticket"]},"steps":[
    {"id":"one","title":"One","prompt":"P."},{"id":"two","title":"Two","prompt":"P."}])");
  const auto first = start_workflow("acme.blind");
  const auto next = deliver(first.line["continueToken"], "Read.", R"({"ticket":"T-1","secretPlan":"we chose B"})");
  const auto resumed = client->call("resume_session", Value::object({{"workspacePath", (root_ / "work").string()}}));
  const std::string view = to_json(session_resource(first.line.string_at("sessionId").value_or("")));
  for (const std::string& shown : {rehydrate(next.line["continueToken"]).text, to_json(resumed.line), view}) {
    EXPECT_THAT(shown, AllOf(HasSubstr("T-1"), Not(HasSubstr("secretPlan")), Not(HasSubstr("we chose B"))));
  }
}

TEST_P(McpChildren, ChildrenAreNamedByWhatNamesThemNotByTheirFiles) {
  write_workflow("kid", R"("steps":[{"id":"look","title":"Look","prompt":"Look."}])");
  write_workflow("families", R"("steps":[{"id":"plan","title":"Plan","prompt":"P."},
    {"id":"fan","type":"parallel","title":"Fan","parallelDelegations":[
      {"workflowId":"acme.kid","args":{"familyName":"correctness_invariants","deliverableName":"ci.md","code":"a1"}},
      {"workflowId":"acme.kid","args":{"familyName":"runtime_production_risk","deliverableName":"rr.md","code":"b2"}}
    ]}])");
  const auto waiting = deliver(start_workflow("acme.families").line["continueToken"], "Planned.");
  EXPECT_THAT(waiting.text, AllOf(HasSubstr("(correctness_invariants)"), HasSubstr("(runtime_production_risk)")));
}

INSTANTIATE_TEST_SUITE_P(BothEras, McpChildren, testing::Values(McpClient::Era::kSessions, McpClient::Era::kStateless),
                         [](const auto& era) {
                           return era.param == McpClient::Era::kSessions ? "WithSessions" : "Stateless";
                         });

}  // namespace
}  // namespace sb
