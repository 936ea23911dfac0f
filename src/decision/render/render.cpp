#include "decision/render/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "decision/render/brief_parts.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/lossy.hpp"

namespace sb::decision {
namespace {

bool is_choice(const Prompt& prompt) {
  return prompt.select.mode == SelectMode::kOne || prompt.select.mode == SelectMode::kMany;
}

std::string name_of(const Prompt& prompt) {
  return quote_json(prompt.is_declared || prompt.label.empty() ? prompt.decision_id : prompt.label);
}

std::unexpected<Error> cannot(const Prompt& prompt, Host host, std::string_view why, std::string remedy) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("{} cannot be shown on {}: {}", name_of(prompt), to_string(host), why), std::move(remedy));
}

Status check_mode(const Prompt& prompt, Host host, const RenderOptions& options) {
  const SelectMode mode = prompt.select.mode;
  const bool is_local = host == Host::kText && options.is_local;
  if (prompt.secret && !is_local && !(host == Host::kElicitation && mode == SelectMode::kUrl)) {
    return cannot(prompt, host, "it asks for a secret",
                  "Declare it as select: url and use --host elicitation, or ask it in a terminal with `signalbox ask`");
  }
  if (mode == SelectMode::kUrl && host != Host::kElicitation) {
    return cannot(prompt, host, "it opens a url", "Use --host elicitation");
  }
  if (mode == SelectMode::kText && host != Host::kElicitation && host != Host::kText) {
    return cannot(prompt, host, "it takes a text and has no options", "Use --host elicitation or text");
  }
  if (mode == SelectMode::kForm && host != Host::kElicitation && !is_local) {
    return cannot(prompt, host, "it is a form", "Use --host elicitation, or `signalbox ask` in a terminal");
  }
  return {};
}

Status check_counts(const Prompt& prompt, const Profile& profile, Host host) {
  if (!is_choice(prompt)) return {};
  const int count = static_cast<int>(prompt.options.size());
  if (count < 2) return cannot(prompt, host, "a choice needs at least 2 options", "Declare the other side of it");
  const int cap = cap_of(host, profile);
  if (count > cap) {
    return cannot(prompt, host, fmt::format("it has {} options and a question there holds {}", count, cap),
                  "Page or split it first");
  }
  return {};
}

// A profile whose own limits are wider than the text grammar's may have declared what the grammar cannot say.
Status check_grammar(const Prompt& prompt, const Profile& profile, Host host) {
  if (host != Host::kText || profile.grammar == Grammar::kStrictNumbers) return {};
  const int instruction_words = word_units(prompt.instruction);
  if (instruction_words > 15) {
    return cannot(prompt, host, fmt::format("the instruction has {} words and a block holds 15", instruction_words),
                  "Use --host brief, or shorten it");
  }
  for (const Option& option : prompt.options) {
    const int words = word_units(option.label);
    if (words <= 5) continue;
    return cannot(prompt, host,
                  fmt::format("option {} has {} words and a block holds 5", quote_json(option.label), words),
                  "Use --host brief, or shorten it");
  }
  return {};
}

// What the profile demands of a brief is demanded where one is shown: other hosts show none of it.
Status check_parts(const Prompt& prompt, const Profile& profile, Host host) {
  if (host != Host::kBrief) return {};
  const auto lacks = missing_brief_parts(prompt, profile);
  if (lacks.empty()) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} is no whole {} brief: {}", name_of(prompt), profile.id, fmt::join(lacks, "; ")),
              "Add what is missing to the declaration, or use a host that does not show it, such as text");
}

// Everything the host displays, to look for markers in.
void collect_strings(const Value& value, std::string& into) {
  if (value.is_string()) {
    into += value.as_string();
    into += '\n';
  } else if (value.is_array()) {
    for (const Value& item : value.items()) collect_strings(item, into);
  } else if (value.is_object()) {
    for (const Value::Member& member : value.members()) {
      if (member.name != "_meta" && member.name != "metadata" && member.name != "id" && member.name != "const") {
        collect_strings(member.value, into);
      }
    }
  }
}

std::string displayed(const Rendered& rendered, const RenderOptions& options) {
  std::string shown = rendered.text;
  if (options.shows_before) shown += '\n' + rendered.before;
  collect_strings(rendered.payload, shown);
  return shown;
}

// A text that carries a marker of its own making could close somebody else's prompt, or call on a preference for it.
Status check_markers(const Prompt& prompt, std::string_view shown) {
  const std::string own = fmt::format("<gstack-qid:{}>", prompt.question_id);
  for (const std::string_view opening : {"<sb:", "<gstack-qid:"}) {
    for (std::size_t at = shown.find(opening); at != std::string_view::npos; at = shown.find(opening, at + 1)) {
      if (!prompt.question_id.empty() && shown.substr(at).starts_with(own)) continue;
      return fail(ErrorCode::kInvalid,
                  fmt::format("a text of {} contains {}...>, which marks prompts", name_of(prompt), opening),
                  "Write it otherwise");
    }
  }
  return {};
}

void draft(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  switch (rendered.host) {
    case Host::kText:
      return drafts::text(prompt, profile, rendered, shown);
    case Host::kBrief:
      return drafts::brief(prompt, profile, rendered, shown);
    case Host::kAskUserQuestion:
      return drafts::ask_user_question(prompt, profile, rendered, shown);
    case Host::kRequestUserInput:
      return drafts::request_user_input(prompt, profile, rendered, shown);
    case Host::kElicitation:
      return drafts::elicitation(prompt, profile, rendered, shown);
  }
}

// Behind what is lost as declared stands what the draft had to change.
void note_losses(const Prompt& prompt, const ShownFields& shown, Rendered& rendered) {
  auto lost = fields_not_shown(prompt, rendered.host, shown);
  lost.insert(lost.end(), rendered.omitted_fields.begin(), rendered.omitted_fields.end());
  if (prompt.has_numbered_pager) lost.emplace_back("pager_label");
  rendered.omitted_fields = std::move(lost);
}

// What stands in a question's text so that hooks know it again.
std::string markers_for(const Prompt& prompt, const std::string& nonce, std::string_view question) {
  std::string markers = nonce.empty() ? std::string() : marker_of(nonce);
  const std::string gstack = fmt::format("<gstack-qid:{}>", prompt.question_id);
  if (prompt.question_id.empty() || question.find(gstack) != std::string_view::npos) return markers;
  return markers.empty() ? gstack : markers + " " + gstack;
}

// The block's grammar has no place for a marker; the url of url mode is the host's to open and stays as it is.
void add_markers(const Prompt& prompt, Rendered& rendered) {
  if (rendered.host == Host::kText) return;
  Value* calls = rendered.payload.find("questions");
  for (std::size_t i = 0; i < rendered.shape.questions.size(); ++i) {
    std::string& question = rendered.shape.questions[i].text;
    const std::string markers = markers_for(prompt, rendered.shape.nonce, question);
    if (markers.empty()) continue;
    drafts::mark_question(question, markers);
    if (calls) calls->items()[i].set("question", question);
    if (rendered.host == Host::kElicitation) rendered.payload.set("message", question);
    if (rendered.host == Host::kBrief) rendered.text = question;
  }
  const bool is_url = rendered.host == Host::kElicitation && prompt.select.mode == SelectMode::kUrl;
  if (is_url && !rendered.shape.nonce.empty()) rendered.payload.set("elicitationId", rendered.shape.nonce);
}

}  // namespace

std::string Rendered::bytes() const {
  return is_structured(host) ? to_json(payload) : text;
}

Result<Rendered> render(const Prompt& prompt, const Profile& profile, Host host, const RenderOptions& options) {
  SB_TRY(check_mode(prompt, host, options));
  SB_TRY(check_counts(prompt, profile, host));
  SB_TRY(check_grammar(prompt, profile, host));
  SB_TRY(check_parts(prompt, profile, host));
  Rendered rendered;
  rendered.host = host;
  rendered.shape = {.host = host,
                    .nonce = options.nonce,
                    .label = prompt.label,
                    .locale = prompt.locale,
                    .select = prompt.select,
                    .commands = {},
                    .elsewhere = prompt.shown_elsewhere,
                    .has_none = false,
                    .questions = {},
                    .requested_schema = {}};
  ShownFields shown;
  draft(prompt, profile, rendered, shown);
  if (host == Host::kText && options.shows_before) {
    for (const auto field : {"sections.context", "sections.safety_notice", "irreversible_note"}) shown.add(field);
  }
  const bool has_note = !prompt.irreversible_note.empty();
  if (prompt.door == Door::kOneWay && has_note && !shown.has("irreversible_note")) {
    return cannot(prompt, host, "it cannot be undone, and the note that says so would be lost",
                  "Use --host brief, ask_user_question or elicitation, or `signalbox ask` in a terminal");
  }
  SB_TRY(check_markers(prompt, displayed(rendered, options)));
  note_losses(prompt, shown, rendered);
  rendered.render_hash = sha256_hex(profile.id + "\n" + prompt.definition_hash + "\n" + rendered.bytes());
  add_markers(prompt, rendered);
  return rendered;
}

std::string marker_of(std::string_view nonce) {
  return fmt::format("<sb:{}>", nonce);
}

std::vector<std::string> nonces_in(std::string_view text) {
  constexpr std::string_view opening = "<sb:";
  std::vector<std::string> nonces;
  for (std::size_t at = text.find(opening); at != std::string_view::npos; at = text.find(opening, at + 1)) {
    const std::size_t first = at + opening.size();
    const std::size_t end =
        std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", first), text.size());
    if (end > first && end < text.size() && text[end] == '>') nonces.emplace_back(text.substr(first, end - first));
  }
  return nonces;
}

}  // namespace sb::decision
