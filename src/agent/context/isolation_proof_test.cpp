// The proof of isolation: a marker in every source, a real session in the real loop, and a check of every byte of every
// model request. What a mode excludes is absent from all of them, what it includes is present.
#include <fmt/format.h>

#include <mutex>

#include "agent/context/rule_files.hpp"
#include "agent/loop/testing.hpp"

namespace sb::agent {
namespace {

struct Sent {
  std::string workflow, bytes;
};

// Records each request before it is sent.
class ListeningModel final : public Model {
 public:
  ListeningModel(std::unique_ptr<Model> inner, std::vector<Sent>& sent, std::mutex& mutex)
      : inner_(std::move(inner)), sent_(sent), mutex_(mutex) {}
  std::string name() const override { return inner_->name(); }
  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    {
      const std::scoped_lock lock(mutex_);
      sent_.push_back({request.requester.workflow, to_json(to_value(request))});
    }
    return inner_->reply(request, on_delta);
  }

 private:
  std::unique_ptr<Model> inner_;
  std::vector<Sent>& sent_;
  std::mutex& mutex_;
};

struct Marked {
  char letter;  // in the table below
  ContextSource source;
  std::string marker() const { return fmt::format("MARK-{}-7f3a", source.key); }
};

std::vector<Marked> marked_sources() {
  const auto of = [](char letter, std::string key, SourceKind kind, bool author_view = false) {
    Marked marked{letter,
                  {.key = std::move(key), .kind = kind, .title = "A title", .text = {}, .author_view = author_view}};
    marked.source.text = "before " + marked.marker() + " behind";
    return marked;
  };
  return {of('0', "tier0/VISION.md", SourceKind::kTier0),
          of('r', "rules/AGENTS.md", SourceKind::kRule),
          of('s', "soul", SourceKind::kRule),
          of('m', "memory/1", SourceKind::kMemory),
          of('g', "goal", SourceKind::kTask),
          of('t', "ticket", SourceKind::kTask),
          of('d', "diff", SourceKind::kRaw),
          of('p', "pitch", SourceKind::kDocument),
          of('i', "discovery.keyInvariants", SourceKind::kPrior),
          of('l', "coding.knownLimitations", SourceKind::kPrior),
          of('c', "coding.confidence", SourceKind::kPrior, true),
          of('b', "coding.retrospective", SourceKind::kPrior, true)};
}

constexpr const char* kNotes =
    "What was found, what was done about it and what is left for the next one, at the length that notes must have.";
// Left in the work tree by an earlier phase.
constexpr std::string_view kLeftMarker = "MARK-left-behind-7f3a";

class Proof {
 public:
  Proof() {
    place.add_workflow("two-steps", kTwoSteps);
    place.write(place.tree + "/.signalbox/discovery.md", fmt::format("what discovery found: {}\n", kLeftMarker));
    place.write(place.tree + "/src/a.txt", "code\n");
  }

  // The letters of the sources that were in all requests of the workflow; a source in only some of them is an error.
  std::string letters(const std::string& workflow) {
    std::string all;
    int requests = 0;
    for (const Marked& marked : marked_sources()) {
      int with = 0;
      requests = 0;
      for (const Sent& each : sent) {
        if (each.workflow != workflow) continue;
        ++requests;
        with += each.bytes.find(marked.marker()) != std::string::npos;
      }
      if (with == requests) all += marked.letter;
      if (with != 0 && with != requests) all += fmt::format("?{}", marked.letter);
    }
    return requests == 0 ? "nothing was sent" : all;
  }
  bool ever_sent(std::string_view text, const std::string& workflow) const {
    return std::ranges::any_of(sent, [&](const Sent& each) {
      return each.workflow == workflow && each.bytes.find(text) != std::string::npos;
    });
  }

  WorkResult work(const std::string& workflow, const ContextSpec& spec) {
    const std::string session = place.start(workflow);
    Assignment assignment = place.assignment(session);
    std::vector<ContextSource> sources;
    for (const Marked& marked : marked_sources()) sources.push_back(marked.source);
    const auto bundle = make_bundle(spec, identity_text(), sources);
    EXPECT_TRUE(bundle) << bundle.error().to_string();
    if (!bundle) return {};
    assignment.bundle = *bundle;
    assignment.role = spec.role;
    AgentRunnerParts parts{.seams = place.seams, .home = *place.home, .settings = place.settings, .http = *place.http};
    parts.wrap_model = [this](std::unique_ptr<Model> model, const Assignment&,
                              const ModelSettings&) -> std::unique_ptr<Model> {
      return std::make_unique<ListeningModel>(std::move(model), sent, mutex);
    };
    parts.sources = [sources](const Assignment&) { return sources; };
    AgentRunner runner(std::move(parts));
    const WorkResult ended = runner.work(assignment, {});
    last_session = session;
    return ended;
  }

  LoopFixture place;
  std::vector<Sent> sent;
  std::mutex mutex;
  std::string last_session;
};

// A model that also looks for what it was not given.
std::string snooping_script(const std::string& workflow) {
  const std::string when = fmt::format(R"("when": {{"workflow": "{}"}})", workflow);
  return call_line("Read", R"({"file_path": ".signalbox/discovery.md"})", when) +
         call_line("Grep", R"({"pattern": "discovery found", "output_mode": "content"})", when) +
         call_line("Glob", R"({"pattern": "**/*.md"})", when) +
         call_line("Bash", R"x({"command": "cat .signalbox/*; cat $(find . -name 'disc*')"})x", when) +
         complete_line(kNotes, when) + complete_line(kNotes, when);
}

struct Row {
  const char* name;
  ContextSpec spec;
  std::string given;  // letters
};

class EveryMode : public testing::TestWithParam<Row> {};

TEST_P(EveryMode, SendsOnlyWhatItIncludes) {
  Proof proof;
  proof.place.script(snooping_script("two-steps"));
  const WorkResult ended = proof.work("two-steps", GetParam().spec);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_GE(proof.sent.size(), 6u);
  EXPECT_EQ(proof.letters("two-steps"), GetParam().given);
  // Restricted roles cannot find what an earlier phase left in the work tree, however they look for it.
  EXPECT_EQ(proof.ever_sent(kLeftMarker, "two-steps"), !is_restricted(GetParam().spec.role));
  // The log agrees: the logged bundle names the keys that were given.
  const auto began = proof.place.events_of(proof.last_session, "began");
  ASSERT_EQ(began.size(), 1u);
  std::string recorded;
  for (const Marked& marked : marked_sources()) {
    for (const Value& key : began[0].payload["keys"].items()) {
      if (key.string_at("key") == marked.source.key) recorded += marked.letter;
    }
  }
  EXPECT_EQ(recorded, GetParam().given);
}

INSTANTIATE_TEST_SUITE_P(
    Isolation, EveryMode,
    testing::Values(
        Row{"full", {.role = ""}, "0rsmgtdpilcb"},
        Row{"full_worker", {.role = "worker", .mode = IsolationMode::kFull}, "0rsmgtdpilcb"},
        Row{"full_reviewer", {.role = "reviewer"}, "0rsmgtdpil"},
        Row{"task_only", {.role = "", .mode = IsolationMode::kTaskOnly}, "0rsmgtp"},
        Row{"task_only_without_tier0", {.role = "", .mode = IsolationMode::kTaskOnly, .tier0 = false}, "gtp"},
        Row{"challenger_mode", {.role = "", .mode = IsolationMode::kChallenger}, "0rsmgtd"},
        Row{"blind_to_all", {.role = "", .mode = IsolationMode::kBlind}, ""},
        Row{"blind_with_one", {.role = "", .mode = IsolationMode::kBlind, .inputs = {"diff"}}, "d"},
        Row{"custom",
            {.role = "", .mode = IsolationMode::kCustom, .include = {"*"}, .exclude = {"coding.*", "soul"}},
            "0rmgtdpi"},
        Row{"custom_reviewer",
            {.role = "reviewer", .mode = IsolationMode::kCustom, .include = {"coding.*", "diff"}},
            "dl"},
        Row{"challenger", {.role = "challenger"}, "0rsmgtd"}, Row{"adversarial", {.role = "adversarial"}, "0rsmgtd"},
        Row{"evaluator", {.role = "evaluator"}, "0rsmgtd"},
        Row{"challenger_blind", {.role = "challenger", .mode = IsolationMode::kBlind, .inputs = {"ticket"}}, "t"},
        Row{"evaluator_blind", {.role = "evaluator", .mode = IsolationMode::kBlind}, ""}),
    [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

std::string child_workflow(const std::string& id, const std::string& head) {
  return fmt::format(
      "id: {}\nname: Child\ndescription: A child.\nversion: 1.0.0\n{}\nsteps:\n"
      "  - {{id: one, title: One, prompt: \"Look at it.\", needs: [claim]}}\n",
      id, head);
}

std::string spawn_line(const std::string& workflow, const std::string& context) {
  return call_line(
      "spawn_agent",
      fmt::format(R"({{"workflowId": "{}", "goal": "Try to refute it", "context": {}}})", workflow, context),
      R"("when": {"workflow": "two-steps"})");
}

TEST(Isolation, AppliesToChildrenToo) {
  Proof proof;
  proof.place.add_workflow("child-plain", child_workflow("child-plain", ""));
  proof.place.add_workflow("child-refuter", child_workflow("child-refuter", "role: adversarial"));
  proof.place.add_workflow("child-blind",
                           child_workflow("child-blind", "role: evaluator\nisolation: {mode: blind, inputs: [claim]}"));
  proof.place.add_workflow("child-reviewer", child_workflow("child-reviewer", "role: reviewer"));
  std::string script;
  for (const std::string child : {"child-plain", "child-refuter", "child-blind", "child-reviewer"}) {
    script += spawn_line(child, R"({"claim": "MARK-claim-7f3a"})");
    script += snooping_script(child);
  }
  const std::string when = R"("when": {"workflow": "two-steps"})";
  proof.place.script(script + complete_line(kNotes, when) + complete_line(kNotes, when));
  const WorkResult ended = proof.work("two-steps", {.role = ""});
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(proof.letters("child-plain"), "0rsmgtdpilcb");
  EXPECT_EQ(proof.letters("child-reviewer"), "0rsmgtdpil");
  EXPECT_EQ(proof.letters("child-refuter"), "0rsmgtd");
  EXPECT_EQ(proof.letters("child-blind"), "");
  for (const std::string child : {"child-plain", "child-refuter", "child-blind", "child-reviewer"}) {
    EXPECT_TRUE(proof.ever_sent("MARK-claim-7f3a", child)) << child << ": gets its inputs";
    EXPECT_EQ(proof.ever_sent(kLeftMarker, child), child == "child-plain" || child == "child-reviewer") << child;
  }
}

TEST(Isolation, ACallerCannotGiveARestrictedChildMore) {
  Proof proof;
  proof.place.add_workflow("child-refuter", child_workflow("child-refuter", "role: adversarial"));
  const std::string when = R"("when": {"workflow": "two-steps"})";
  proof.place.script(spawn_line("child-refuter", R"({"claim": "x", "priorResults": "MARK-smuggled-7f3a"})") +
                     complete_line(kNotes, when) + complete_line(kNotes, when));
  EXPECT_EQ(proof.work("two-steps", {.role = ""}).state, EndState::kComplete);
  EXPECT_EQ(proof.letters("child-refuter"), "nothing was sent");
  const auto refused = proof.place.events_of(proof.last_session, "refused");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].payload.string_at("why").value_or(""), testing::HasSubstr("priorResults"));
}

}  // namespace
}  // namespace sb::agent
