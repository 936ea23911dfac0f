#include "engine/steps/relayed_answer.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "engine/transaction/session_update.hpp"

namespace sb::engine {
namespace {

// For ids sent by an agent: short and printable.
std::string printable_id(std::string_view id) {
  return printable(id.substr(0, limits::kIdBytes));
}

}  // namespace

Status relay(inbox::Inbox& inbox, SessionUpdate& update, const SessionToken& token, const RelayedAnswer& answer) {
  const auto node = update.node(token.node);
  if (!node || token.attempt != (*node)->attempt) return {};
  const std::string waited = (*node)->waiting ? (*node)->waiting->decision : std::string();
  if (waited.empty()) {
    return fail(ErrorCode::kConflict, "this session is not waiting for a decision", "Continue without `answer`");
  }
  if (answer.decision != waited) {
    return fail(ErrorCode::kInvalid,
                fmt::format("this session is not waiting for {}", quote_json(printable_id(answer.decision))),
                fmt::format("The open decision is {}", waited));
  }
  inbox::AnswerSubmission submission;
  submission.given = answer.given;
  submission.from = {inbox::Channel::kRelay, answer.by};
  submission.raw = answer.raw;
  SB_TRY(inbox.answer_in(update.transaction(), waited, submission, answer.remark));
  return {};
}

}  // namespace sb::engine
