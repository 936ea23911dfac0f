#include "decision/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/lossy.hpp"

namespace sb::decision {
namespace {

using drafts::cannot_show;

bool is_choice(const Prompt& prompt) {
  return prompt.select.mode == SelectMode::kOne || prompt.select.mode == SelectMode::kMany;
}

Status check_mode(const Prompt& prompt, const Host& host, const RenderOptions& options) {
  const SelectMode mode = prompt.select.mode;
  const bool is_local = host.can_be_local && options.is_local;
  if (prompt.secret && !is_local && !(host.opens_urls && mode == SelectMode::kUrl)) {
    return cannot_show(prompt, host, "it asks for a secret",
                       fmt::format("Declare it as select: url and use --host {}, or ask it in a terminal with "
                                   "`signalbox ask`",
                                   hosts_with(&Host::opens_urls)));
  }
  if (mode == SelectMode::kUrl && !host.opens_urls) {
    return cannot_show(prompt, host, "it opens a URL", fmt::format("Use --host {}", hosts_with(&Host::opens_urls)));
  }
  if (mode == SelectMode::kText && !host.takes_text) {
    return cannot_show(prompt, host, "it asks for a text and has no options",
                       fmt::format("Use --host {}", hosts_with(&Host::takes_text)));
  }
  if (mode == SelectMode::kForm && !host.takes_forms && !is_local) {
    return cannot_show(prompt, host, "it is a form",
                       fmt::format("Use --host {}, or `signalbox ask` in a terminal", hosts_with(&Host::takes_forms)));
  }
  return {};
}

Status check_counts(const Prompt& prompt, const Profile& profile, const Host& host) {
  if (!is_choice(prompt)) return {};
  const int count = static_cast<int>(prompt.options.size());
  if (count < 2) return cannot_show(prompt, host, "a choice needs at least 2 options", "Add another option");
  const int cap = cap_of(host, profile);
  if (count > cap) {
    return cannot_show(prompt, host, fmt::format("it has {} options, and a question there can hold {}", count, cap),
                       "Page or split it first");
  }
  return {};
}

// Everything the host displays, to search for markers.
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

// A forged marker in a text could close another prompt, or apply a preference to this one.
Status check_markers(const Prompt& prompt, std::string_view shown) {
  const std::string own = fmt::format("<gstack-qid:{}>", prompt.question_id);
  for (const std::string_view opening : {"<sb:", "<gstack-qid:"}) {
    for (std::size_t at = shown.find(opening); at != std::string_view::npos; at = shown.find(opening, at + 1)) {
      if (!prompt.question_id.empty() && shown.substr(at).starts_with(own)) continue;
      return fail(ErrorCode::kInvalid,
                  fmt::format("a text of {} contains {}...>, which is reserved for marking prompts",
                              drafts::name_of(prompt), opening),
                  "Rephrase it");
    }
  }
  return {};
}

// The declared fields that are lost, then what the draft had to change.
void note_losses(const Prompt& prompt, const ShownFields& shown, Rendered& rendered) {
  auto lost = fields_not_shown(prompt, *rendered.shape.host, shown);
  lost.insert(lost.end(), rendered.omitted_fields.begin(), rendered.omitted_fields.end());
  if (prompt.has_numbered_pager) lost.emplace_back("pager_label");
  rendered.omitted_fields = std::move(lost);
}

// The markers in a question's text by which hooks recognize it.
std::string markers_for(const Prompt& prompt, const std::string& nonce, std::string_view question) {
  std::string markers = nonce.empty() ? std::string() : marker_of(nonce);
  const std::string gstack = fmt::format("<gstack-qid:{}>", prompt.question_id);
  if (prompt.question_id.empty() || question.find(gstack) != std::string_view::npos) return markers;
  return markers.empty() ? gstack : markers + " " + gstack;
}

void add_markers(const Prompt& prompt, Rendered& rendered) {
  const Host& host = *rendered.shape.host;
  if (!host.set_question) return;
  for (std::size_t i = 0; i < rendered.shape.questions.size(); ++i) {
    std::string& question = rendered.shape.questions[i].text;
    const std::string markers = markers_for(prompt, rendered.shape.nonce, question);
    if (markers.empty()) continue;
    drafts::mark_question(question, markers);
    host.set_question(rendered, i);
  }
}

}  // namespace

std::string Rendered::bytes() const {
  return payload.is_null() ? text : to_json(payload);
}

Result<Rendered> render(const Prompt& prompt, const Profile& profile, const Host& host, const RenderOptions& options) {
  SB_TRY(check_mode(prompt, host, options));
  SB_TRY(check_counts(prompt, profile, host));
  if (host.check) SB_TRY(host.check(prompt, profile));
  Rendered rendered;
  rendered.shape = {.host = &host,
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
  host.draft(prompt, profile, options, rendered, shown);
  const bool has_note = !prompt.irreversible_note.empty();
  if (prompt.door == Door::kOneWay && has_note && !shown.has("irreversible_note")) {
    return cannot_show(
        prompt, host, "it is irreversible, and its warning would be lost",
        fmt::format("Use --host {}, or `signalbox ask` in a terminal", hosts_with(&Host::shows_irreversible_note)));
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
