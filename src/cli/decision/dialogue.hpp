// A question put to a person line by line: one decision, a flow or a chain behind the same two calls.
//
//   Dialogue dialogue = SB_TRY(begin_dialogue(declaration, question));
//   while (dialogue.turn.what == DialogueTurn::Kind::kShow) { print(dialogue.turn.output); dialogue.feed(line); }
//
// Keeps all it knows in memory: when the process ends half-way, nothing was answered and the question is still open.
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
    kAnswered,   // `given`, and of a chain `waived`
    kCancelled,  // the person gave the word that ends it
    kSuspended,  // too many wrong inputs: left for later
  };
  Kind what = Kind::kShow;
  std::string output;
  std::string free_text;  // beside kShow: what was said instead of an answer
  inbox::AnswerInput given;
  Value waived;
};

struct Dialogue {
  DialogueTurn turn;
  std::function<DialogueTurn(std::string_view line)> next;

  void feed(std::string_view line) { turn = next(line); }
};

// The declaration must outlive the dialogue. An error where a chain cannot be planned.
Result<Dialogue> begin_dialogue(const decision::Declaration& declaration, const inbox::Question& question);

}  // namespace sb::cli
