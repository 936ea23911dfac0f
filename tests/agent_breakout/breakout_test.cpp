// An agent with a shell, a detached terminal, sqlite3 and our own library tries every way to open a gate that needs an
// operator's signature. Each attempt is printed; after each, every reader must find the gate closed.
//
// Every attempt starts from its own copy of a home with an operator and one open question. Afterwards two readers
// check: `inbox show`, by the id the asker received, and `ask`, which asks the same question again.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/operators/key_files.hpp"
#include "inbox/operators/signature.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sb::inbox {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuestion =
    "decision: drop-table\n"
    "instruction: \"Drop the table users_old?\"\n"
    "door: one-way\n"
    "irreversible_note: The rows cannot be restored.\n"
    "options:\n"
    "  - {id: keep, label: Keep it}\n"
    "  - {id: drop, label: Drop it}\n";

struct RunResult {
  int code = -1;
  std::string output;
};

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AgentBreakout : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sb-breakout-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "work");
    write_file(root_ / "work/drop.yaml", kQuestion);
    home_ = root_ / "origin";
    ASSERT_EQ(run("printf 'correct horse\\n' | signalbox operator init --name ann").code, 0);
    id_ = decision_of(run("signalbox ask drop.yaml --json 2>/dev/null").output);
    ASSERT_FALSE(id_.empty());
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  // Runs a command in the agent's shell, with its home and any environment.
  RunResult run(const std::string& command) {
    const std::string line = "cd '" + (root_ / "work").string() +
                             "' && export PATH='" SB_PROGRAMS ":'\"$PATH\" SIGNALBOX_HOME='" + home_.string() +
                             "' ID='" + id_ + "'; unset SIGNALBOX_OPERATOR_TOKEN; { " + command + "\n} 2>&1";
    RunResult ran;
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return ran;
    char buffer[4096];
    for (std::size_t count = 0; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, count);
    const int status = pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran;
  }

  static std::string decision_of(const std::string& json) {
    const auto value = parse_json(json);
    return value ? value->string_at("decision").value_or("") : "";
  }

  void begin(const std::string& way) {
    home_ = root_ / ("way-" + std::to_string(++count_));
    fs::copy(root_ / "origin", home_, fs::copy_options::recursive);
    way_ = way;
  }

  static bool says_answered(const std::string& json) {
    const auto value = parse_json(json);
    return value && (value->string_at("outcome") == "answered" || (*value)["options"].size() > 0);
  }

  void expect_closed() {
    const RunResult shown = run("signalbox inbox show $ID --json 2>/dev/null");
    EXPECT_FALSE(says_answered(shown.output)) << way_ << "\n" << shown.output;
    const RunResult asked = run("signalbox ask drop.yaml --json 2>/dev/null </dev/null");
    EXPECT_NE(asked.code, 0) << way_ << "\n" << asked.output;
    EXPECT_FALSE(says_answered(asked.output)) << way_ << "\n" << asked.output;
    std::cout << "  gate stayed closed: " << way_ << "\n";
  }

  // An attempt that is one shell command.
  void try_shell(const std::string& way, const std::string& command) {
    begin(way);
    const RunResult ran = run(command);
    if (std::getenv("BREAKOUT_VERBOSE") != nullptr) std::cout << ran.output << "exit " << ran.code << "\n";
    expect_closed();
  }

  // An attempt in the agent's own terminal: the arguments of tests/terminal. The prompts must have been shown.
  void try_terminal(const std::string& way, const std::string& arguments) {
    begin(way);
    const RunResult ran = run("'" SB_TERMINAL "' " + arguments);
    EXPECT_EQ(ran.code, 1) << way << "\n" << ran.output;
    expect_closed();
  }

  // With the library: the agent can write events with correct hashes.
  void forge(const std::string& way, const std::function<void(store::Transaction&, const DecisionState&)>& forgery) {
    begin(way);
    write_into_store(forgery);
    expect_closed();
  }

  void write_into_store(const std::function<void(store::Transaction&, const DecisionState&)>& forgery) {
    auto store = store::SqliteStore::open((home_ / "signalbox.db").string(), store::Access::kReadWrite);
    ASSERT_TRUE(store);
    const auto state = state_in(**store, id_);
    ASSERT_TRUE((*store)->write([&](store::Transaction& transaction) -> Status {
      forgery(transaction, state);
      return {};
    }));
  }

  static DecisionState state_in(store::Store& store, const std::string& id) {
    const auto believe = [](const std::string&, const OpenedDecision&, const DecisionOutcome&) -> Result<std::string> {
      return "ann";
    };
    return *store.read([&](store::Snapshot& snapshot) -> Result<DecisionState> {
      return replay(SB_TRY(snapshot.events("decision/" + id, 1, 100)), believe);
    });
  }

  DecisionState state_now(const std::string& id) {
    auto store = store::SqliteStore::open((home_ / "signalbox.db").string(), store::Access::kReadWrite);
    return state_in(**store, id);
  }

  static DecisionOutcome drop(const DecisionState& state) {
    DecisionOutcome outcome;
    outcome.options = {"drop"};
    outcome.values = Value::object();
    outcome.principal = "ann";
    outcome.channel = Channel::kTerminal;
    outcome.resolved_by = ResolvedBy::kHuman;
    outcome.render_hash = state.opened.render_hash;
    return outcome;
  }

  static void append(store::Transaction& transaction, const DecisionState& state, const store::NewEvent& event) {
    ASSERT_TRUE(transaction.append("decision/" + state.id, state.head, std::vector{event}));
  }

  static AnswerSignature signed_by(const std::string& secret, const DecisionState& state, TimestampMs at) {
    AnswerInput given;
    given.options = {"drop"};
    return *sign_answer(state.id, state.opened, given, at, secret);
  }

  // Replaces the asked question with another opened event, followed by an answer.
  void replace_question(store::Transaction& transaction, const DecisionState& state, OpenedDecision opened,
                        const std::string& secret) {
    const std::string stream = "decision/" + state.id;
    ASSERT_TRUE(transaction.remove_stream(stream));
    const std::string payload = to_canonical_json(to_value(opened));
    auto head = transaction.append(stream, {}, std::vector{store::NewEvent{"opened", opened.opened_at, payload}});
    ASSERT_TRUE(head);
    DecisionState changed = state;
    changed.opened = opened;
    DecisionOutcome outcome = drop(changed);
    if (!secret.empty()) outcome.signature = signed_by(secret, changed, opened.opened_at + 1);
    ASSERT_TRUE(transaction.append(stream, *head, std::vector{answered_event(outcome, opened.opened_at + 1)}));
  }

  fs::path root_, home_;
  std::string id_, way_;
  int count_ = 0;
  FakeRandom random_{4711};
};

TEST_F(AgentBreakout, ThroughTheCommands) {
  try_shell("answer without a terminal", "signalbox inbox answer $ID drop </dev/null");
  try_shell("answer with a guessed passphrase piped in", "printf 'password\\n' | signalbox inbox answer $ID drop");
  try_shell("answer with an empty passphrase piped in", "printf '\\n' | signalbox inbox answer $ID drop");
  try_terminal("answer in a detached terminal",
               "wait Passphrase type 'password\n' wait 'try again' wait Passphrase type '\004' -- "
               "signalbox inbox answer $ID drop");
  try_terminal("ask in a detached terminal and answer there",
               "wait 'Drop it' type '2\n' wait Passphrase type '\n' wait 'try again' wait Passphrase type '\004' -- "
               "signalbox ask drop.yaml");
  try_terminal("close the detached terminal in the middle",
               "wait 'Drop it' type '2\n' wait Passphrase close -- signalbox ask drop.yaml");
  try_shell("create a second operator",
            "printf 'mine\\nmine\\n' | signalbox operator init --name mallory; "
            "printf 'mine\\n' | signalbox inbox answer $ID drop --operator mallory");
  try_shell("create the same operator again",
            "printf 'mine\\nmine\\n' | signalbox operator init --name ann; "
            "printf 'mine\\n' | signalbox inbox answer $ID drop");
  try_shell("create a token without the passphrase",
            "T=$(printf 'mine\\n' | signalbox operator token --scope '*' --expires 1h 2>/dev/null); "
            "SIGNALBOX_OPERATOR_TOKEN=\"$T\" signalbox inbox answer $ID drop");
  try_shell("decline and withdraw it", "signalbox inbox decline $ID; signalbox inbox withdraw $ID");
}

TEST_F(AgentBreakout, ThroughTheEnvironmentAndTheConfiguration) {
  try_shell("a made-up token", "SIGNALBOX_OPERATOR_TOKEN=sbt1.e30.AAAA signalbox inbox answer $ID drop");
  try_shell("another home with the agent's own keys, its answer copied over",
            "export REAL=$SIGNALBOX_HOME SIGNALBOX_HOME=$SIGNALBOX_HOME.mine; "
            "printf 'mine\\n' | signalbox operator init --name ann; "
            "signalbox ask drop.yaml; printf 'mine\\n' | signalbox inbox answer drop-table drop; "
            "cp $SIGNALBOX_HOME/signalbox.db* $REAL/");
  try_shell(
      "names and flags in the environment",
      "USER=ann LOGNAME=ann SIGNALBOX_STRICT=0 SIGNALBOX_OPERATOR=ann signalbox inbox answer $ID drop </dev/null");
  try_shell("strict: false and confirmations: relay in config.yaml",
            "printf 'strict: false\\nconfirmations: relay\\n' >$SIGNALBOX_HOME/config.yaml; "
            "signalbox inbox answer $ID drop </dev/null");
  try_shell("the same question declared as needing no signature, and answered",
            "cp drop.yaml kept.yaml; sed -i '/door:/d; /irreversible/d' drop.yaml; "
            "MINE=$(signalbox ask drop.yaml --json 2>/dev/null | sed 's/.*\"decision\":\"\\([^\"]*\\).*/\\1/'); "
            "signalbox inbox answer $MINE drop </dev/null || exit 7; cp kept.yaml drop.yaml; "
            "signalbox inbox answer $ID drop </dev/null");
  try_shell("trust the folder",
            "mkdir -p .signalbox; cp drop.yaml .signalbox/; printf 'mine\\n' | signalbox trust .; "
            "signalbox inbox answer $ID drop </dev/null");
}

TEST_F(AgentBreakout, ThroughSqlite) {
  const std::string db = "sqlite3 $SIGNALBOX_HOME/signalbox.db ";
  ASSERT_EQ(run(db + "'select 1'").output, "1\n") << "this test needs sqlite3";
  const std::string tables = run(db + ".schema").output;
  try_shell("set every projection row to answered",
            db + "\"update projections set value=cast('{\\\"state\\\":\\\"closed\\\",\\\"outcome\\\":\\\"answered\\\","
                 "\\\"options\\\":[\\\"drop\\\"]}' as blob)\"");
  try_shell("remove the need for a signature from the stored question",
            db + "\"update events set payload=cast(replace(cast(payload as text), '\\\"signed\\\":true', "
                 "'\\\"signed\\\":false') as blob)\"; signalbox inbox answer $ID drop </dev/null");
  try_shell("turn the stored question's event into an answer", db + "\"update events set type='answered'\"");
  try_shell("delete every event", db + "'delete from events'");
  EXPECT_NE(tables.find("events"), std::string::npos) << tables;
}

TEST_F(AgentBreakout, WithForgedEvents) {
  const KeyPair mallory = make_key_pair(random_);
  forge("an answer without a signature", [&](store::Transaction& t, const DecisionState& state) {
    append(t, state, answered_event(drop(state), state.opened.opened_at + 1));
  });
  forge("an answer signed with the agent's own key", [&](store::Transaction& t, const DecisionState& state) {
    DecisionOutcome outcome = drop(state);
    outcome.signature = signed_by(mallory.secret, state, state.opened.opened_at + 1);
    append(t, state, answered_event(outcome, state.opened.opened_at + 1));
  });
  forge("an answer signed by the agent's own token", [&](store::Transaction& t, const DecisionState& state) {
    const TimestampMs at = state.opened.opened_at + 1;
    const OperatorToken token = *parse_token(*make_token("t-1", "*", at, at + 1'000, mallory.secret, random_));
    DecisionOutcome outcome = drop(state);
    outcome.signature = signed_by(token.secret, state, at);
    outcome.signature->delegation = token.delegation_text;
    append(t, state, answered_event(outcome, at));
  });
  forge("a default that was never declared", [&](store::Transaction& t, const DecisionState& state) {
    append(t, state,
           closed_event(OutcomeKind::kDefaulted, ResolvedBy::kDeadline, {Channel::kProgram, ""}, "",
                        state.opened.opened_at + 1));
  });
  forge("the question asked again without a signature, under the same id",
        [&](store::Transaction& t, const DecisionState& state) {
          OpenedDecision opened = state.opened;
          opened.needs_signature = false;
          replace_question(t, state, opened, "");
        });
  forge("the index of asked questions pointed at the agent's own", [&](store::Transaction& t,
                                                                       const DecisionState& state) {
    OpenedDecision opened = state.opened;
    opened.needs_signature = false;
    const std::string payload = to_canonical_json(to_value(opened));
    const std::string id = instance_id_of(payload);
    auto head = t.append("decision/" + id, {}, std::vector{store::NewEvent{"opened", opened.opened_at, payload}});
    ASSERT_TRUE(head);
    ASSERT_TRUE(t.append("decision/" + id, *head, std::vector{answered_event(drop(state), opened.opened_at + 1)}));
    ASSERT_TRUE(t.put(kDecisionsAsked, opened.fingerprint, id));
    ASSERT_TRUE(t.put(kDecisions, id, "{}", "open/1"));
  });
}

TEST_F(AgentBreakout, WithOtherOperators) {
  try_shell("delete the operators, create another, answer",
            "rm -rf $SIGNALBOX_HOME/operators; printf 'mine\\n' | signalbox operator init --name ann; "
            "printf 'mine\\n' | signalbox inbox answer $ID drop");
  try_shell("delete the operators, create another, have it asked again, answer",
            "rm -rf $SIGNALBOX_HOME/operators; printf 'mine\\n' | signalbox operator init --name ann; "
            "signalbox ask drop.yaml; printf 'mine\\n' | signalbox inbox answer drop-table drop");
  try_shell("delete only the register",
            "rm $SIGNALBOX_HOME/operators/registry.jsonl; "
            "printf 'mine\\n' | signalbox operator init --name mallory; "
            "printf 'mine\\n' | signalbox inbox answer $ID drop --operator mallory");
  const std::string own =
      "export REAL=$SIGNALBOX_HOME SIGNALBOX_HOME=$SIGNALBOX_HOME.mine; "
      "printf 'mine\\n' | signalbox operator init --name NAME >/dev/null; ";
  const auto own_named = [&](const std::string& name) {
    std::string text = own;
    return text.replace(text.find("NAME"), 4, name);
  };
  try_shell("replace the operators with other ones, have it asked again, answer",
            own_named("ann") +
                "rm -rf $REAL/operators; cp -r $SIGNALBOX_HOME/operators $REAL/; SIGNALBOX_HOME=$REAL; "
                "signalbox ask drop.yaml; printf 'mine\\n' | signalbox inbox answer drop-table drop; "
                "printf 'mine\\n' | signalbox inbox answer $ID drop");
  try_shell("plant a key file in place of the operator's",
            own_named("ann") +
                "cp $SIGNALBOX_HOME/operators/ann.key $REAL/operators/; SIGNALBOX_HOME=$REAL; "
                "printf 'mine\\n' | signalbox inbox answer $ID drop");
  try_shell("append the agent's own enrolment to the register",
            own_named("mallory") +
                "cat $SIGNALBOX_HOME/operators/registry.jsonl >>$REAL/operators/registry.jsonl; "
                "cp $SIGNALBOX_HOME/operators/mallory.key $REAL/operators/; SIGNALBOX_HOME=$REAL; "
                "printf 'mine\\n' | signalbox inbox answer $ID drop --operator mallory");

  // The strongest attempt: other operators, and the question itself rewritten to name them.
  begin("other operators, and the stored question rewritten to name them");
  run("rm -rf $SIGNALBOX_HOME/operators; printf 'mine\\n' | "
      "SIGNALBOX_HOME=$SIGNALBOX_HOME.mine signalbox operator init --name ann; "
      "cp -r $SIGNALBOX_HOME.mine/operators $SIGNALBOX_HOME/");
  SystemFiles files;
  const OperatorFiles operator_files(files, {home_.string(), home_.string(), home_.string()});
  const Operators operators = *operator_files.load();
  const std::string secret = *operator_files.unlock(operators, "ann", "mine");
  write_into_store([&](store::Transaction& t, const DecisionState& state) {
    OpenedDecision opened = state.opened;
    opened.operators = operators.pin();
    opened.opened_at = operators.keys().front().enrolled_at + 1;
    replace_question(t, state, opened, secret);
  });
  const RunResult shown = run("signalbox inbox show $ID --json");
  EXPECT_NE(shown.code, 0);
  EXPECT_NE(shown.output.find("was changed after it was asked"), std::string::npos) << shown.output;
  expect_closed();
}

TEST_F(AgentBreakout, WithTheOperatorsOwnEarlierAnswers) {
  // The operator has answered another question, and this one before with "keep".
  write_file(root_ / "work/other.yaml",
             "decision: other\ninstruction: \"Delete the branch?\"\ndoor: one-way\n"
             "irreversible_note: It is gone.\noptions: [{id: keep, label: Keep}, {id: drop, label: Drop}]\n");
  run("signalbox ask other.yaml; printf 'correct horse\\n' | signalbox inbox answer other drop");
  run("printf 'correct horse\\n' | signalbox inbox answer $ID drop");
  run("signalbox ask drop.yaml");  // reads it
  const std::string answered_before = id_;
  const DecisionOutcome earlier = *state_now(id_).outcome;
  id_ = decision_of(run("signalbox ask drop.yaml --json 2>/dev/null").output);
  ASSERT_NE(id_, answered_before);
  const auto others = parse_json(run("signalbox inbox list --all --json").output);
  std::string other_id;
  for (const Value& each : (*others)["decisions"].items()) {
    if (each.string_at("asked") == "other") other_id = *each.string_at("decision");
  }
  const DecisionOutcome on_other = *state_now(other_id).outcome;
  fs::remove_all(root_ / "before");
  fs::rename(root_ / "origin", root_ / "before");
  fs::copy(root_ / "before", root_ / "origin", fs::copy_options::recursive);

  forge("the operator's answer to another question, copied", [&](store::Transaction& t, const DecisionState& state) {
    DecisionOutcome outcome = on_other;
    outcome.render_hash = state.opened.render_hash;
    append(t, state, answered_event(outcome, state.opened.opened_at + 1));
  });
  forge("the operator's answer when it was asked before, copied",
        [&](store::Transaction& t, const DecisionState& state) {
          append(t, state, answered_event(earlier, state.opened.opened_at + 1));
        });
  forge("the same with its time moved", [&](store::Transaction& t, const DecisionState& state) {
    DecisionOutcome outcome = earlier;
    outcome.signature->signed_at = state.opened.opened_at + 1;
    append(t, state, answered_event(outcome, state.opened.opened_at + 1));
  });
  begin("the operator's answer \"keep\" turned into \"drop\"");
  run("printf 'correct horse\\n' | signalbox inbox answer $ID keep");
  write_into_store([&](store::Transaction& t, const DecisionState& state) {
    DecisionOutcome outcome = *state.outcome;
    outcome.options = {"drop"};
    const std::string stream = "decision/" + state.id;
    ASSERT_TRUE(t.remove_stream(stream));
    const std::string payload = to_canonical_json(to_value(state.opened));
    auto head = t.append(stream, {}, std::vector{store::NewEvent{"opened", state.opened.opened_at, payload}});
    ASSERT_TRUE(t.append(stream, *head, std::vector{answered_event(outcome, outcome.at)}));
  });
  expect_closed();
}

TEST_F(AgentBreakout, WithATokenForSomethingElse) {
  const RunResult made =
      run("printf 'correct horse\\n' | signalbox operator token --scope decision:other --expires 1h 2>/dev/null");
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string token = made.output.substr(0, made.output.find('\n'));
  try_shell("a token for another decision", "SIGNALBOX_OPERATOR_TOKEN=" + token + " signalbox inbox answer $ID drop");
  const RunResult short_lived =
      run("printf 'correct horse\\n' | signalbox operator token --scope '*' --expires 1s 2>/dev/null");
  const std::string expired = short_lived.output.substr(0, short_lived.output.find('\n'));
  try_shell("a token that has expired",
            "sleep 1.1; SIGNALBOX_OPERATOR_TOKEN=" + expired + " signalbox inbox answer $ID drop");
}

TEST_F(AgentBreakout, WithARevokedTokenAndTheRevocationCutOff) {
  const RunResult made = run("printf 'correct horse\\n' | signalbox operator token --scope '*' 2>token.err");
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string token = made.output.substr(0, made.output.find('\n'));
  ASSERT_EQ(
      run("printf 'correct horse\\n' | signalbox operator revoke $(sed 's/^token \\([^ ]*\\).*/\\1/' token.err)").code,
      0);
  const std::string answer = "SIGNALBOX_OPERATOR_TOKEN=" + token + " signalbox inbox answer $ID drop; ";
  try_shell("a token that was revoked", answer);
  try_shell("a token that was revoked, with the last line of the register removed",
            "sed -i '$d' $SIGNALBOX_HOME/operators/registry.jsonl; " + answer);
  try_shell("the same, with the line restored for readers",
            "cp $SIGNALBOX_HOME/operators/registry.jsonl kept; sed -i '$d' $SIGNALBOX_HOME/operators/registry.jsonl; " +
                answer + "cp kept $SIGNALBOX_HOME/operators/registry.jsonl");
}

// Stores the agent's own question, which the token covers, where the asker looks for earlier questions.
TEST_F(AgentBreakout, WithAForgedQuestionThatATokenCovers) {
  fs::create_directories(root_ / "covered");
  const std::string covered = fs::canonical(root_ / "covered").string();
  const auto token_for = [&](const std::string& scope) {
    const RunResult made =
        run("printf 'correct horse\\n' | signalbox operator token --scope '" + scope + "' 2>/dev/null");
    EXPECT_EQ(made.code, 0) << made.output;
    return made.output.substr(0, made.output.find('\n'));
  };
  const auto join_forged = [&](const std::string& way, const std::string& token,
                               const std::function<void(OpenedDecision&)>& change) {
    begin(way);
    std::string forged;
    write_into_store([&](store::Transaction& t, const DecisionState& state) {
      OpenedDecision opened = state.opened;
      change(opened);
      const std::string payload = to_canonical_json(to_value(opened));
      forged = instance_id_of(payload);
      ASSERT_TRUE(
          t.append("decision/" + forged, {}, std::vector{store::NewEvent{"opened", opened.opened_at, payload}}));
      ASSERT_TRUE(t.put(kDecisionsAsked, state.opened.fingerprint, forged));
      ASSERT_TRUE(t.put(kDecisions, forged, "{}", "open/1"));
    });
    run("SIGNALBOX_OPERATOR_TOKEN=" + token + " signalbox inbox answer " + forged + " drop");
    expect_closed();
  };
  const std::string by_place = token_for("workspace:" + covered);
  join_forged("the question copied into a workspace that a token covers", by_place,
              [&](OpenedDecision& opened) { opened.workspace = covered; });
  join_forged("the same with a fingerprint that fits", by_place, [&](OpenedDecision& opened) {
    opened.workspace = covered;
    opened.fingerprint = fingerprint_of(opened.source, opened.workspace, opened.session);
  });
  join_forged("the question renamed to one that a token covers", token_for("decision:other"),
              [](OpenedDecision& opened) { opened.question.id = "other"; });
}

// The gate is not merely stuck: a waiting process sees it open for the operator, and for no one before.
TEST_F(AgentBreakout, AndTheOperatorOpensIt) {
  const RunResult ran =
      run("signalbox ask drop.yaml --json --wait 60s >waiter.json 2>waiter.err & W=$!; until [ -s waiter.err ]; do "
          "sleep 0.05; done; "
          "signalbox inbox answer $ID drop </dev/null; printf 'password\\n' | signalbox inbox answer $ID drop; "
          "sleep 0.5; test ! -s waiter.json || exit 9; "
          "printf 'correct horse\\n' | signalbox inbox answer $ID drop || exit 8; wait $W");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(says_answered(read_text(root_ / "work/waiter.json")));
}

TEST_F(AgentBreakout, AWaiterSeesThatTheOperatorsWereReplaced) {
  const RunResult ran =
      run("signalbox ask drop.yaml --json --wait 60s >waiter.json 2>waiter.err & W=$!; until [ -s waiter.err ]; do "
          "sleep 0.05; done; "
          "rm -rf $SIGNALBOX_HOME/operators; printf 'mine\\n' | signalbox operator init --name ann; wait $W; "
          "echo code $?; cat waiter.err");
  EXPECT_NE(ran.output.find("code 1"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("operator keys were replaced"), std::string::npos) << ran.output;
}

}  // namespace
}  // namespace sb::inbox
