#include "hook/events/planned_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/files.hpp"
#include "decision/render/render.hpp"
#include "gstack/log_text.hpp"
#include "inbox/home.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::hook {
namespace {

constexpr int kBusyWaitMs = 1'500;  // the host allows a hook 5 s in total

// The label with our spelling of the mark: hosts write "(Recommended)".
std::string normal_label(std::string_view label) {
  std::string plain = gstack::without_recommended_mark(label);
  std::string_view rest = label.substr(std::min(label.size(), label.find(plain) + plain.size()));
  const bool is_marked = rest.find('(') != std::string_view::npos;
  return is_marked ? plain + " (recommended)" : plain;
}

std::string quoted(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + quote_json(label);
  return text;
}

std::vector<std::string> labels_of(const decision::ShownQuestion& question) {
  std::vector<std::string> labels;
  for (const decision::ShownOption& option : question.options) labels.push_back(normal_label(option.shown));
  return labels;
}

std::vector<std::string> labels_of(const CallQuestion& question) {
  std::vector<std::string> labels;
  for (const CallOption& option : question.options) labels.push_back(normal_label(option.label));
  return labels;
}

// The entries of `labels` that are not in `others`.
std::vector<std::string> missing_from(const std::vector<std::string>& others, const std::vector<std::string>& labels) {
  std::vector<std::string> missing;
  for (const std::string& label : labels) {
    if (std::ranges::find(others, label) == others.end()) missing.push_back(label);
  }
  return missing;
}

// How the options differ; empty when they are the same set in any order.
std::vector<std::string> option_differences(const inbox::PlannedPrompt& planned, const std::vector<std::string>& wanted,
                                            const std::vector<std::string>& given) {
  std::vector<std::string> found;
  if (const auto missing = missing_from(given, wanted); !missing.empty()) {
    found.push_back(fmt::format("missing: {}", quoted(missing)));
  }
  std::vector<std::string> elsewhere, invented;
  for (std::string& label : missing_from(wanted, given)) {
    const bool is_declared =
        std::ranges::any_of(planned.elsewhere, [&](const std::string& other) { return normal_label(other) == label; });
    (is_declared ? elsewhere : invented).push_back(std::move(label));
  }
  if (!invented.empty()) found.push_back(fmt::format("not an option of this question: {}", quoted(invented)));
  if (!elsewhere.empty()) found.push_back(fmt::format("belongs to another page: {}", quoted(elsewhere)));
  if (invented.empty() && elsewhere.empty() && given.size() > wanted.size()) {
    found.emplace_back("an option appears twice");
  }
  return found;
}

bool is_other_select(bool is_many, MultiSelect given) {
  if (is_many) return given != MultiSelect::kTrue;
  return given != MultiSelect::kFalse && given != MultiSelect::kAbsent;
}

// The texts carry the same ids, and neither has a malformed marker.
bool has_same_id(std::string_view planned, std::string_view given) {
  const GstackMarkers wanted = gstack_markers_in(planned);
  const GstackMarkers found = gstack_markers_in(given);
  return wanted.ids == found.ids && wanted.is_clear == found.is_clear;
}

// How one question of a call differs from what the host was given.
void add_differences(const PlannedQuestion& planned, const decision::ShownQuestion& shown, const CallQuestion& question,
                     std::vector<std::string>& found) {
  const std::vector<std::string> wanted = labels_of(shown);
  const std::vector<std::string> given = labels_of(question);
  const auto options = option_differences(planned.prompt, wanted, given);
  found.insert(found.end(), options.begin(), options.end());
  if (options.empty() && planned.is_order_fixed() && given != wanted) {
    found.push_back(fmt::format("the options must be in this order: {}", quoted(wanted)));
  }
  if (is_other_select(shown.is_many, question.multi_select)) {
    found.push_back(fmt::format("multiSelect must be {}", shown.is_many ? "true" : "false"));
  }
  if (without_markers(question.text) != without_markers(shown.text) || !has_same_id(shown.text, question.text)) {
    found.push_back(fmt::format("the question must read {}", quote_json(shown.text)));
  }
}

Result<PlannedQuestion> with_decision(inbox::Home& home, inbox::PlannedPrompt prompt) {
  inbox::DecisionState state = SB_TRY(home.inbox().load(prompt.decision));
  return PlannedQuestion{.prompt = std::move(prompt), .decision = std::move(state)};
}

store::SqliteOptions store_options() {
  store::SqliteOptions options;
  options.busy_wait_ms = kBusyWaitMs;
  // A checkpoint costs syncs; leave it to processes that are not in a hurry.
  options.checkpoint_bytes = options.close_checkpoint_bytes = std::numeric_limits<std::int64_t>::max();
  return options;
}

Result<std::string> store_path(const Seams& seams) {
  return inbox::store_path(SB_TRY(sb::homes(seams.environment)));
}

Result<bool> has_store(const Seams& seams) {
  return seams.files.kind(SB_TRY(store_path(seams))) != FileKind::kMissing;
}

}  // namespace

Result<std::unique_ptr<inbox::Home>> open_home(const Seams& seams, store::Access access) {
  if (access == store::Access::kReadOnly && !SB_TRY(has_store(seams))) return nullptr;
  auto home = inbox::Home::open(seams, access, store_options());
  if (!home && home.error().code == ErrorCode::kNotFound && access == store::Access::kReadOnly) return nullptr;
  return home;
}

Result<std::unique_ptr<store::SqliteStore>> open_store(const Seams& seams, store::Access access) {
  if (!SB_TRY(has_store(seams))) return nullptr;
  return store::SqliteStore::open(SB_TRY(store_path(seams)), access, store_options());
}

std::string profile_of(const inbox::DecisionState& state) {
  const bool is_chain = state.opened.question.shape == inbox::QuestionShape::kChain;
  return state.opened.source.string_at("profile").value_or(is_chain ? "gstack" : "interaction");
}

bool PlannedQuestion::needs_person() const {
  const inbox::OpenedDecision& opened = decision.opened;
  return opened.needs_signature || opened.question.shape != inbox::QuestionShape::kDecision || prompt.pages > 1 ||
         opened.source.string_at("profile") != "gstack";
}

bool PlannedQuestion::is_order_fixed() const {
  return decision.opened.source.string_at("profile") != "gstack";
}

Result<std::vector<std::optional<PlannedQuestion>>> find_planned(inbox::Home& home,
                                                                 const std::vector<CallQuestion>& questions,
                                                                 const Seams& seams) {
  std::vector<std::optional<PlannedQuestion>> found;
  for (const CallQuestion& question : questions) {
    std::optional<PlannedQuestion> planned;
    for (const std::string& nonce : decision::nonces_in(question.text)) {
      auto prompt = SB_TRY(home.inbox().find_prompt(nonce));
      if (!prompt) continue;
      if (planned && planned->prompt.nonce != nonce) {
        return fail(ErrorCode::kInvalid,
                    fmt::format("one question carries the markers of two planned prompts, {} and {}",
                                planned->prompt.nonce, nonce));
      }
      planned = SB_TRY(with_decision(home, std::move(*prompt)));
      planned->declaration = inbox::asked_declaration(planned->decision.opened, seams.files, seams.environment);
      const bool may_be_open =
          planned->decision.is_open() && planned->declaration && decision::host_named(planned->prompt.host) != nullptr;
      if (may_be_open) {
        planned->shown = SB_TRY(home.inbox().shown(planned->prompt, planned->decision, *planned->declaration));
      }
    }
    found.push_back(std::move(planned));
  }
  return found;
}

Result<std::optional<PlannedQuestion>> newest_in(inbox::Home& home, const std::string& directory,
                                                 const std::vector<inbox::PlannedPrompt>& open,
                                                 const PromptFilter& wanted) {
  for (const inbox::PlannedPrompt& prompt : open) {
    if (!wanted(prompt)) continue;
    PlannedQuestion planned = SB_TRY(with_decision(home, prompt));
    const std::string& workspace = planned.decision.opened.workspace;
    if (!workspace.empty() && is_within(directory, workspace)) return planned;
  }
  return std::nullopt;
}

std::vector<std::string> differences(const PlannedQuestion& planned, const CallQuestion& question,
                                     const decision::Host& host) {
  if (!planned.shown) return {};
  if (planned.prompt.host != host.name) {
    return {fmt::format("it was rendered for {}; for this tool use `signalbox render --next {} --host {}`",
                        planned.prompt.host, planned.decision.id, host.name)};
  }
  std::vector<std::string> found;
  const std::vector<decision::ShownQuestion>& wanted = planned.shown->shape.questions;
  if (question.rows.size() >= wanted.size()) found.emplace_back("it is asked more than once");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > question.rows.size()) {
      found.push_back(fmt::format("missing: the question {}", quote_json(wanted[i].text)));
    } else {
      add_differences(planned, wanted[i], i == 0 ? question : question.rows[i - 1], found);
    }
  }
  return found;
}

bool overlaps(const inbox::PlannedPrompt& planned, const CallQuestion& question) {
  const std::vector<std::string> given = labels_of(question);
  std::size_t shared = 0;
  for (const inbox::Choice& choice : planned.options) {
    const auto is_it = [&](const std::string& label) {
      return gstack::without_recommended_mark(label) == gstack::without_recommended_mark(choice.label);
    };
    if (std::ranges::any_of(given, is_it)) ++shared;
  }
  return shared >= 2;
}

}  // namespace sb::hook
