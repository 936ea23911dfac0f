// Shared by the tests of running agents: a home with a store, a work tree with workflows, a scripted model, and an
// agent runner that is created again for each piece of work, as after a restart.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agent/context/identity.hpp"
#include "agent/loop/agent_log.hpp"
#include "agent/loop/agent_runner.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "engine/session/prepare.hpp"
#include "engine/session/session_home.hpp"
#include "net/http_client.hpp"
#include "sandbox/testing.hpp"

namespace sb::agent {

class LoopFixture {
 public:
  LoopFixture() {
    std::string pattern = "/var/tmp/sb-loop-XXXXXX";  // not /tmp: a command gets its own /tmp
    directory = std::filesystem::canonical(::mkdtemp(pattern.data()));
    tree = directory + "/tree";
    std::filesystem::create_directories(tree + "/.signalbox/workflows");
    std::filesystem::create_directories(directory + "/home");
    environment = Environment({{"SIGNALBOX_HOME", directory + "/own"},
                               {"HOME", directory + "/home"},
                               {"PATH", "/usr/local/bin:/usr/bin:/bin"},
                               {"MODEL_KEY", "k-0123456789-secret"}});
    settings.models["m"] = {.provider = provider_named("scripted"),
                            .name = "m",
                            .model = {},
                            .key = "$MODEL_KEY",
                            .url = {},
                            .api = {},
                            .script = directory + "/script.jsonl",
                            .recipe = {},
                            .command = {},
                            .upstream = {}};
    sandbox::allow_no_sandbox(seams, directory + "/own");
    open();
  }
  ~LoopFixture() {
    home.reset();
    std::filesystem::remove_all(directory);
  }

  // The store as another process sees it.
  void open() {
    home.reset();
    auto opened = engine::SessionHome::open(seams);
    EXPECT_TRUE(opened) << opened.error().to_string();
    home = std::move(*opened);
  }

  void write(const std::string& path, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void add_workflow(const std::string& id, const std::string& yaml) {
    write(tree + "/.signalbox/workflows/" + id + ".yaml", yaml);
  }
  void script(const std::string& lines) { write(directory + "/script.jsonl", lines); }

  std::string start(const std::string& workflow, Value context = {}) {
    const auto catalog = workflow::Catalog::open(files, environment, home->home().homes(), tree);
    EXPECT_TRUE(catalog);
    auto starting = engine::prepare_start(files, *catalog,
                                          {.workflow_id = workflow,
                                           .goal = "Make it faster",
                                           .workspace = tree,
                                           .context = std::move(context),
                                           .is_autonomous = true});
    EXPECT_TRUE(starting) << starting.error().error.to_string();
    if (!starting) return {};
    const auto answer = home->sessions().start(*starting);
    EXPECT_TRUE(answer) << answer.error().error.to_string();
    return answer ? answer->line.string_at("sessionId").value_or("") : "";
  }

  Assignment assignment(const std::string& session) {
    const auto summary = home->sessions().summary(session);
    EXPECT_TRUE(summary);
    Assignment made;
    made.run = "r-1";
    made.session = session;
    made.workflow = summary ? summary->workflow_id : "";
    made.work_tree = tree;
    made.limits = limits;
    const auto bundle = make_bundle({}, identity_text(), sources);
    EXPECT_TRUE(bundle);
    made.bundle = *bundle;
    return made;
  }
  WorkResult work(const Assignment& given) {
    progress.clear();
    AgentRunnerParts parts{.seams = seams, .home = *home, .settings = settings, .http = *http};
    parts.wrap_model = wrap_model;
    AgentRunner runner(std::move(parts));
    return runner.work(given, [this](const Progress& each) {
      progress.push_back(each);
      if (on_progress) on_progress(each);
    });
  }
  WorkResult work(const std::string& session) { return work(assignment(session)); }

  std::vector<LoggedEvent> events(const std::string& session) {
    AgentLog log(home->home().store(), clock, session);
    const auto all = log.read();
    EXPECT_TRUE(all) << all.error().to_string();
    return all ? *all : std::vector<LoggedEvent>();
  }
  std::vector<std::string> types(const std::string& session) {
    std::vector<std::string> all;
    for (const LoggedEvent& event : events(session)) all.push_back(event.type);
    return all;
  }
  std::vector<LoggedEvent> events_of(const std::string& session, std::string_view type) {
    std::vector<LoggedEvent> all = events(session);
    std::erase_if(all, [&](const LoggedEvent& event) { return event.type != type; });
    return all;
  }
  std::string result_text(const std::string& session, const LoggedEvent& ended) {
    AgentLog log(home->home().store(), clock, session);
    const auto text = log.blob(ended.payload.string_at("result").value_or(""));
    EXPECT_TRUE(text);
    return text ? *text : "";
  }
  void append(const std::string& session, const std::string& type, Value payload) {
    AgentLog log(home->home().store(), clock, session);
    const Status done = log.append({{type, std::move(payload)}});
    EXPECT_TRUE(done) << done.error().to_string();
  }
  std::string status(const std::string& session) {
    const auto summary = home->sessions().summary(session);
    return summary ? std::string(engine::to_string(summary->status)) : "";
  }
  void answer(const std::string& decision, const std::string& option) {
    inbox::AnswerSubmission submission;
    submission.given.options = {option};
    submission.from = {inbox::Channel::kTerminal, "ann"};
    submission.raw = option;
    const auto done = home->home().inbox().answer(decision, submission);
    EXPECT_TRUE(done) << done.error().to_string();
  }

  std::string directory, tree;
  SystemFiles files;
  SystemClock clock;
  SystemRandom random;
  SystemProcess process;
  FakeStreams streams;
  Environment environment;
  Seams seams{files, clock, random, process, environment, streams};
  std::unique_ptr<net::HttpClient> http = net::make_http_client();
  AgentSettings settings;
  WorkLimits limits;
  std::vector<ContextSource> sources;
  std::vector<Progress> progress;
  std::function<void(const Progress&)> on_progress;
  std::function<std::unique_ptr<Model>(std::unique_ptr<Model>, const Assignment&, const ModelSettings&)> wrap_model;
  std::unique_ptr<engine::SessionHome> home;
};

// A script line with one call.
inline std::string call_line(const std::string& tool, const std::string& input, const std::string& more = "") {
  return R"({"content": [{"type": "tool_use", "name": ")" + tool + R"(", "input": )" + input + "}]" +
         (more.empty() ? "" : ", " + more) + "}\n";
}
inline std::string complete_line(const std::string& notes, const std::string& more = "") {
  return call_line("complete_step", R"({"notes": ")" + notes + R"("})", more);
}

inline constexpr const char* kTwoSteps = R"(
id: two-steps
name: Two
description: Two steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Do the first thing."}
  - {id: two, title: Two, prompt: "Do the second thing."}
)";

}  // namespace sb::agent
