// Reads a lint context from JSON or YAML.
#include <charconv>

#include "base/document/reader.hpp"
#include "decision/lint/lint.hpp"

namespace sb::decision {
namespace {

constexpr std::pair<std::string_view, LintScope> kScopes[] = {{"in", LintScope::kIn}, {"out", LintScope::kOut}};
constexpr std::pair<std::string_view, LintPhase> kLintPhases[] = {
    {"ask", LintPhase::kAsk},         {"retry", LintPhase::kRetry},
    {"confirm", LintPhase::kConfirm}, {"post_input", LintPhase::kPostInput},
    {"result", LintPhase::kResult},   {"event", LintPhase::kEvent}};
constexpr std::pair<std::string_view, LintChannel> kChannels[] = {
    {"agent", LintChannel::kAgent}, {"tool", LintChannel::kTool}, {"question", LintChannel::kQuestion}};
constexpr std::pair<std::string_view, GstackShape> kShapes[] = {
    {"brief", GstackShape::kBrief}, {"split", GstackShape::kSplit}, {"menu", GstackShape::kMenu},
    {"final", GstackShape::kFinal}, {"meta", GstackShape::kMeta},   {"conflict", GstackShape::kConflict}};
constexpr std::pair<std::string_view, GstackEvent> kEvents[] = {
    {"asked", GstackEvent::kAsked},   {"answered", GstackEvent::kAnswered}, {"hold", GstackEvent::kHold},
    {"resume", GstackEvent::kResume}, {"reset", GstackEvent::kReset},       {"executed", GstackEvent::kExecuted}};
constexpr std::pair<std::string_view, bool> kTransports[] = {{"prose", true}, {"tool", false}};
constexpr std::pair<std::string_view, int> kProfiles[] = {{"interaction", 0}, {"gstack", 1}};

constexpr std::int64_t kMany = 1'000'000;

void read_declared(Fields& fields, LintContext& context) {
  for (const Reader& item : fields.items("declared", Need::kOptional, limits::kOptions)) {
    if (item.value().is_string()) {
      const auto label = item.string();
      if (label) context.declared.push_back({*label, *label});
      continue;
    }
    Fields option = item.fields();
    DeclaredOption declared;
    const auto id = option.string("id");
    const auto key = option.string("key");
    const auto label = option.string("label", Need::kRequired);
    declared.id = id.value_or(key.value_or(""));
    declared.label = label.value_or("");
    // A declaration may be passed unchanged; other members of its options do not matter here.
    if (label) context.declared.push_back(std::move(declared));
  }
}

void read_errors(Fields& fields, LintContext& context) {
  const auto errors = fields.get("errors");
  if (!errors) return;
  if (!errors->value().is_object()) {
    errors->fault("`errors` must be an object from attempt to error line", "Write {\"1\": \"Invalid input.\", …}");
    return;
  }
  for (const auto& [name, value] : errors->value().members()) {
    int attempt = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), attempt);
    const bool is_number = error == std::errc() && end == name.data() + name.size() && attempt > 0;
    const Reader line = errors->at(value);
    if (!is_number) {
      line.fault("`" + name + "` is not an attempt number", "Number the error lines from 1");
    } else if (const auto text = line.string()) {
      context.errors[attempt] = *text;
    }
  }
}

GstackRecord read_record(const Reader& item) {
  GstackRecord record;
  Fields fields = item.fields();
  record.label = fields.string("label", Need::kRequired).value_or("");
  record.id = fields.string("id").value_or("");
  record.event = fields.choice<GstackEvent>("event", kEvents).value_or(GstackEvent::kAsked);
  record.choice = fields.string("choice").value_or("");
  record.resolved_by = fields.string("resolved_by").value_or("");
  if (const auto answers = fields.integer("answers", 0, kMany)) record.answers = static_cast<int>(*answers);
  fields.finish();
  return record;
}

void read_gstack(Fields& fields, LintContext& context) {
  const auto gs = fields.get("gs");
  if (!gs) return;
  GstackFacts facts;
  if (gs->value().is_string()) {
    facts.shape = gs->choice<GstackShape>(kShapes).value_or(GstackShape::kDeduced);
  } else {
    Fields inner = gs->fields();
    facts.shape = inner.choice<GstackShape>("shape", kShapes).value_or(GstackShape::kDeduced);
    facts.cap = static_cast<int>(inner.integer("cap", 1, kMany).value_or(4));
    facts.options = static_cast<int>(inner.integer("options", 0, kMany).value_or(0));
    facts.conflicts_open = static_cast<int>(inner.integer("conflicts_open", 0, kMany).value_or(0));
    facts.is_prose = inner.choice<bool>("transport", kTransports).value_or(false);
    facts.tool_works = inner.boolean("tool_works").value_or(false);
    for (const Reader& item : inner.items("chain")) facts.chain.push_back(read_record(item));
    inner.finish();
  }
  context.gs = std::move(facts);
}

constexpr std::string_view kOfferLanguages[] = {"de", "es", "fr", "ja", "zh"};

}  // namespace

std::span<const std::string_view> offer_languages() {
  return kOfferLanguages;
}

std::vector<std::string> read_offer_languages(const Reader& reader) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  for (const std::string_view code : kOfferLanguages) names.emplace_back(code, code);
  std::vector<std::string> languages;
  for (const Reader& item : reader.items(std::size(kOfferLanguages))) {
    if (const auto code = item.choice<std::string_view>(names)) languages.emplace_back(*code);
  }
  return languages;
}

LintContext reply_context(std::vector<std::string> block_offers) {
  LintContext context;
  context.scope = LintScope::kOut;
  context.drops_block = true;
  context.block_offers = std::move(block_offers);
  context.blocking_only = true;
  return context;
}

Checked<LintContext> read_lint_context(const Document& document) {
  Faults faults;
  LintContext context;
  Reader root(document, faults);
  Fields fields = root.fields();
  context.scope = fields.choice<LintScope>("scope", kScopes).value_or(LintScope::kIn);
  context.phase = fields.choice<LintPhase>("phase", kLintPhases).value_or(LintPhase::kAsk);
  context.channel = fields.choice<LintChannel>("channel", kChannels).value_or(LintChannel::kAgent);
  if (const auto profile = fields.choice<int>("profile", kProfiles)) context.profile = kProfiles[*profile].first;
  read_declared(fields, context);
  context.previous = fields.string("previous", Need::kOptional, limits::kLintBytes);
  context.attempt = static_cast<int>(fields.integer("attempt", 0, kMany).value_or(0));
  read_errors(fields, context);
  context.fields = fields.strings("fields");
  context.prompt_open = fields.boolean("prompt_open").value_or(false);
  if (const auto languages = fields.get("block_offers")) context.block_offers = read_offer_languages(*languages);
  read_gstack(fields, context);
  fields.finish();
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return context;
}

}  // namespace sb::decision
