// Asks a person a question line by line: the same two calls for a decision, a flow and a chain.
//
//   Dialogue dialogue = SB_TRY(begin_dialogue(declaration, question));
//   while (dialogue.turn.what == DialogueTurn::Kind::kShow) { print(dialogue.turn.output); dialogue.feed(line); }
//
// Begins where the decision's walk is (decision/walk) and keeps its state in memory; `position` is what the caller
// stores, so that the next process, or another host, continues there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "inbox/question/question.hpp"

namespace sb::cli {

struct DialogueTurn {
  enum class Kind {
    kShow,       // print `output` and read a line
    kAnswered,   // `given`, and `waived` for a chain
    kCancelled,  // the person typed a cancel word
    kSuspended,  // too many invalid inputs: left open for later
  };
  Kind what = Kind::kShow;
  std::string output;
  std::string free_text;  // with kShow: what the person typed instead of an answer
  inbox::AnswerInput given;
  Value waived;
};

struct Dialogue {
  DialogueTurn turn;
  std::function<DialogueTurn(std::string_view line)> next;
  std::function<Value()> position;  // null where one question is answered with one text or form

  void feed(std::string_view line) { turn = next(line); }
};

// The declaration must outlive the dialogue. Fails if a chain cannot be planned.
Result<Dialogue> begin_dialogue(const decision::Declaration& declaration, const inbox::Question& question,
                                const Value& position = {});

}  // namespace sb::cli
