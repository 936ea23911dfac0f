// Shared by the tests of this folder: an inbox with its own store, a manual clock, and an operator with a key.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/testing/fakes.hpp"
#include "decision/testing.hpp"
#include "inbox/inbox.hpp"
#include "inbox/operators/signature.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::inbox {

inline constexpr const char* kPlainQuestion = R"(
decision: env
instruction: "Which environment should get it?"
options: [staging, production, canary]
)";
inline constexpr const char* kOneWayQuestion = R"(
decision: drop-table
instruction: "Drop the table users_old?"
door: one-way
irreversible_note: The rows cannot be restored.
options:
  - {id: keep, label: Keep it}
  - {id: drop, label: Drop it}
)";

class InboxTestBed {
 public:
  InboxTestBed() : store(std::move(*place_.open())), inbox(*store, clock, random, operators, policy) {}

  // Adds a first operator, or another one authorized by the first.
  KeyPair enrol(const std::string& name) {
    const KeyPair pair = make_key_pair(random);
    const std::string by = first_secret_.empty() ? pair.secret : first_secret_;
    if (first_secret_.empty()) first_secret_ = pair.secret;
    extend(*operators.enrolment(name, pair.public_key, clock.now_ms(), by));
    return pair;
  }
  void extend(const std::string& line) {
    registry += line;
    auto read = Operators::parse(registry, "registry.jsonl");
    ASSERT_TRUE(read) << read.error().to_string();
    operators = *read;
  }

  DecisionHandle open(const std::string& yaml, const AskContext& asking = {.workspace = "/srv", .session = ""}) {
    const auto declaration = decision::declared(yaml);
    auto handle = inbox.open(declaration, asking);
    if (!handle) {
      ADD_FAILURE() << handle.error().to_string();
      return {};
    }
    return *handle;
  }

  // Appends an event with an empty payload to the stream.
  Status append(const std::string& stream, const std::string& type) {
    return store->write([&](store::Transaction& transaction) -> Status {
      const store::Head head = SB_TRY(transaction.head(stream));
      SB_TRY(transaction.append(stream, head, std::vector{store::NewEvent{type, 1, "{}"}}));
      return {};
    });
  }

  AnswerSubmission submission(std::vector<std::string> ids, Channel channel = Channel::kTerminal) {
    AnswerSubmission result;
    result.given.options = std::move(ids);
    result.from = {channel, "ann"};
    result.raw = "as typed";
    return result;
  }
  AnswerSubmission signed_submission(const std::string& id, std::vector<std::string> ids, const std::string& secret) {
    AnswerSubmission result = submission(std::move(ids));
    const auto state = inbox.load(id);
    result.signature = *sign_answer(id, state->opened, result.given, clock.now_ms(), secret);
    return result;
  }

 private:
  store::TempSqliteStore place_;
  std::string first_secret_;

 public:
  FakeClock clock;
  FakeRandom random;
  Policy policy;
  Operators operators;
  std::string registry;
  std::unique_ptr<store::Store> store;
  Inbox inbox;
};

}  // namespace sb::inbox
