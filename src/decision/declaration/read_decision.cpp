// Reads one decision: its options, how many may be chosen, what happens without an answer.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text/unicode.hpp"
#include "decision/classify.hpp"
#include "decision/declaration/declaration_readers.hpp"
#include "decision/door.hpp"
#include "decision/lint/lint.hpp"
#include "decision/prompt.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

template <class E>
using Table = std::pair<std::string_view, E>;

constexpr Table<SelectMode> kSelectModes[] = {{"one", SelectMode::kOne},
                                              {"many", SelectMode::kMany},
                                              {"text", SelectMode::kText},
                                              {"form", SelectMode::kForm},
                                              {"url", SelectMode::kUrl}};
constexpr Table<Door> kDoors[] = {{"one-way", Door::kOneWay}, {"two-way", Door::kTwoWay}};
constexpr Table<Relation> kRelations[] = {{"alternatives", Relation::kAlternatives},
                                          {"independent", Relation::kIndependent},
                                          {"unknown", Relation::kUnknown}};
constexpr Table<OnTimeout> kOnTimeouts[] = {{"wait", OnTimeout::kWait},
                                            {"park", OnTimeout::kPark},
                                            {"deny", OnTimeout::kDeny},
                                            {"default", OnTimeout::kDefault}};
constexpr Table<DecisionKind> kKinds[] = {{"choice", DecisionKind::kChoice},
                                          {"approval", DecisionKind::kApproval},
                                          {"confirmation", DecisionKind::kConfirmation},
                                          {"clarification", DecisionKind::kClarification},
                                          {"routing", DecisionKind::kRouting},
                                          {"cherry-pick", DecisionKind::kCherryPick},
                                          {"meta", DecisionKind::kMeta},
                                          {"conflict", DecisionKind::kConflict},
                                          {"final", DecisionKind::kFinal},
                                          {"revise", DecisionKind::kRevise},
                                          {"secret", DecisionKind::kSecret}};
constexpr Table<Field::Type> kFieldTypes[] = {{"string", Field::Type::kString},
                                              {"integer", Field::Type::kInteger},
                                              {"number", Field::Type::kNumber},
                                              {"boolean", Field::Type::kBoolean}};

bool is_option_id(std::string_view id) {
  return !id.empty() && id.size() <= limits::kIdBytes && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

// The slug of a label, cut to the length of an id. The two ids of the pager are never derived from a label.
std::string id_from(std::string_view label) {
  std::string id = slug_of(label).substr(0, limits::kIdBytes);
  while (id.ends_with('-')) id.pop_back();
  return id == kMoreId || id == kNoneId ? "option-" + id : id;
}

// A label as people see it: look-alike letters are equal.
std::string seen_as(std::string_view label) {
  std::string out;
  const std::string folded = case_fold(nfkc(label));
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    if (!is_invisible(c)) append_code_point(out, c);
  }
  return out;
}

std::vector<std::string> read_lines(Fields& fields, std::string_view name) {
  std::vector<std::string> lines;
  for (const Reader& item : fields.items(name, Need::kOptional, 100)) {
    if (auto line = read_line(item)) lines.push_back(std::move(*line));
  }
  return lines;
}

void read_option_details(Fields& fields, const ReadContext& context, Option& option) {
  option.safe = fields.boolean("safe").value_or(false) && context.author != Author::kModel;
  option.description = read_text(fields, "description");
  option.recommended = fields.boolean("recommended").value_or(false);
  if (const auto score = fields.integer("completeness", 0, 10)) option.completeness = static_cast<int>(*score);
  option.pros = read_lines(fields, "pros");
  option.cons = read_lines(fields, "cons");
  option.role = fields.string("role", Need::kOptional, limits::kIdBytes).value_or("");
  if (const auto value = fields.get("value")) option.value = value->value();
  if (const auto effort = fields.get("effort")) {
    Fields inner = effort->fields();
    option.effort_human = read_text(inner, "human");
    option.effort_agent = read_text(inner, "agent");
    inner.finish();
  }
  if (const auto preview = fields.get("preview")) {
    Fields inner = preview->fields();
    option.preview_format = read_text(inner, "format");
    option.preview = read_text(inner, "content");
    inner.finish();
  }
}

std::optional<Option> read_option(const Reader& reader, const Profile& profile, const ReadContext& context) {
  Option option;
  if (reader.value().is_string()) {
    const auto label = read_line(reader);
    if (!label) return std::nullopt;
    check_label(reader, *label, profile);
    option.label = *label;
    option.id = id_from(*label);
    return option;
  }
  if (!reader.value().is_object()) {
    reader.fault(fmt::format("expected an option, found {}", kind_name(reader.value().kind())),
                 "Write a text, or {id: ..., label: ...}; put numbers in quotes");
    return std::nullopt;
  }
  Fields fields = reader.fields();
  const auto label_reader = fields.get("label", Need::kRequired);
  const auto label = label_reader ? read_line(*label_reader) : std::nullopt;
  if (label) {
    check_label(*label_reader, *label, profile);
    option.label = *label;
  }
  const auto id = fields.get("id");
  option.id = id ? id->string().value_or("") : id_from(option.label);
  if (id && !option.id.empty() && !is_option_id(option.id)) {
    id->fault(fmt::format("\"{}\" is not a valid option id", option.id.substr(0, 80)),
              "Use letters, digits, hyphens, dots and underscores, at most 64");
  }
  read_option_details(fields, context, option);
  fields.finish();
  if (!label || option.id.empty()) return std::nullopt;
  return option;
}

void read_options(Fields& fields, const Profile& profile, const ReadContext& context, Decision& decision) {
  const bool needs_options = decision.select.mode == SelectMode::kOne || decision.select.mode == SelectMode::kMany;
  const auto list = fields.get("options", needs_options ? Need::kRequired : Need::kOptional);
  if (!list) return;
  if (!needs_options) {
    list->fault(fmt::format("select: {} takes no options", to_string(decision.select.mode)),
                "Remove them, or use select: one");
    return;
  }
  const auto items = list->items(limits::kOptions);
  std::unordered_set<std::string> ids, labels;
  for (const Reader& item : items) {
    auto option = read_option(item, profile, context);
    if (!option) continue;
    if (option->id == kMoreId || option->id == kNoneId) {
      item.fault(fmt::format("the option id \"{}\" is reserved for the pager", option->id),
                 "Give the option another id");
    }
    if (!ids.insert(option->id).second) {
      item.fault(fmt::format("two options have the id \"{}\"", option->id),
                 "Give each its own id: {id: ..., label: ...}");
    }
    if (!labels.insert(seen_as(option->label)).second) {
      item.fault(fmt::format("two options are called \"{}\"", option->label), "Give them different labels");
    }
    decision.options.push_back(std::move(*option));
  }
  if (list->value().is_array() && list->value().size() < static_cast<std::size_t>(profile.min_options)) {
    list->fault(fmt::format("{} option{}; a choice needs at least {}", list->value().size(),
                            list->value().size() == 1 ? "" : "s", profile.min_options),
                "Add the other side of the choice, for example \"No\"");
  }
}

void read_select(Fields& fields, Placement placement, Select& select) {
  const auto mode = fields.get("select");
  if (mode) select.mode = mode->choice<SelectMode>(kSelectModes).value_or(SelectMode::kOne);
  if (placement == Placement::kInFlow && select.mode != SelectMode::kOne && select.mode != SelectMode::kMany) {
    mode->fault(fmt::format("a step of a flow cannot be select: {}", to_string(select.mode)),
                "Use one or many, or declare it as a separate decision");
  }
}

// Called after the options are known.
void read_bounds(Fields& fields, Decision& decision) {
  Select& select = decision.select;
  const int count = static_cast<int>(decision.options.size());
  const bool is_many = select.mode == SelectMode::kMany;
  if (is_many) select.max = std::max(count, 1);
  for (const std::string_view name : {"min", "max"}) {
    const auto reader = fields.get(name);
    if (!reader) continue;
    if (!is_many) {
      reader->fault(fmt::format("\"{}\" needs select: many", name), "Remove it, or use select: many");
      continue;
    }
    const auto number = reader->integer(1, std::max(count, 1));
    if (number) (name == "min" ? select.min : select.max) = static_cast<int>(*number);
  }
  if (is_many && select.min > select.max) fields.self().fault("min is more than max", "Lower min");
}

Sections read_sections(const Reader& reader, const Decision& decision) {
  Sections sections;
  Fields fields = reader.fields();
  sections.context = read_text(fields, "context");
  sections.eli10 = read_text(fields, "eli10");
  sections.stakes = read_text(fields, "stakes");
  sections.kind_note = read_text(fields, "kind_note");
  sections.net = read_text(fields, "net");
  sections.safety_notice = read_text(fields, "safety_notice");
  if (const auto recommendation = fields.get("recommendation")) {
    Fields inner = recommendation->fields();
    Recommendation out;
    const auto choice = inner.get("choice", Need::kRequired);
    if (choice) out.choice = choice->string().value_or("");
    out.reason = inner.string("reason", Need::kRequired).value_or("");
    inner.finish();
    if (choice && !out.choice.empty() && !decision.find(out.choice)) {
      choice->fault(fmt::format("no option has the id \"{}\"", out.choice), "Recommend one of the options");
    }
    sections.recommendation = std::move(out);
  }
  fields.finish();
  return sections;
}

std::optional<Field> read_field(const Reader& reader) {
  Field field;
  Fields fields = reader.fields();
  field.key = fields.string("key", Need::kRequired, limits::kIdBytes).value_or("");
  field.title = read_text(fields, "title");
  field.description = read_text(fields, "description");
  field.type = fields.choice<Field::Type>("type", kFieldTypes).value_or(Field::Type::kString);
  field.required = fields.boolean("required").value_or(false);
  if (const auto format = fields.get("format")) {
    static constexpr Table<int> kFormats[] = {{"email", 0}, {"uri", 1}, {"date", 2}, {"date-time", 3}};
    if (format->choice<int>(kFormats)) field.format = format->value().as_string();
  }
  for (const std::string_view name : {"minimum", "maximum"}) {
    if (const auto bound = fields.get(name)) (name == "minimum" ? field.minimum : field.maximum) = bound->number();
  }
  if (const auto value = fields.get("default")) field.default_value = value->value();
  fields.finish();
  if (field.key.empty()) return std::nullopt;
  return field;
}

void read_form(Fields& fields, Decision& decision) {
  const bool is_form = decision.select.mode == SelectMode::kForm;
  if (const auto list = fields.get("fields", is_form ? Need::kRequired : Need::kOptional)) {
    if (!is_form) list->fault("\"fields\" needs select: form", "Remove them, or use select: form");
    std::unordered_set<std::string> keys;
    for (const Reader& item : list->items(100)) {
      auto field = read_field(item);
      if (!field) continue;
      if (!keys.insert(field->key).second)
        item.fault(fmt::format("two fields have the key \"{}\"", field->key), "Give them different keys");
      decision.fields.push_back(std::move(*field));
    }
    if (is_form && list->value().is_array() && list->value().size() == 0)
      list->fault("the form has no fields", "Add one");
  }
  const bool is_url = decision.select.mode == SelectMode::kUrl;
  if (const auto url = fields.get("url", is_url ? Need::kRequired : Need::kOptional)) {
    decision.url = url->string(2048).value_or("");
    if (!is_url) url->fault("\"url\" needs select: url", "Remove it, or use select: url");
    const bool is_http = decision.url.starts_with("https://") || decision.url.starts_with("http://");
    if (!decision.url.empty() && !is_http)
      url->fault("the url is not http or https", "Write the full address: https://...");
  }
}

void read_deadline(Fields& fields, Decision& decision) {
  const auto reader = fields.get("deadline");
  const auto text = reader ? reader->string(64) : std::nullopt;
  if (!text) return;
  if (const auto duration = parse_duration_ms(*text)) {
    decision.deadline_after_ms = *duration;
  } else if (const auto time = parse_rfc3339(*text)) {
    decision.deadline_at = *time;
  } else {
    reader->fault(fmt::format("\"{}\" is neither a duration nor a time", *text),
                  "Write it like 8h or 2026-11-15T08:00:00Z");
  }
  if (decision.on_timeout == OnTimeout::kWait) {
    reader->fault("a deadline without on_timeout does nothing", "Add on_timeout: park, deny or default");
  }
}

// A default applies without a person's answer, so everything that could introduce one by accident is rejected.
void check_default(const Reader& reader, const Profile& profile, const ReadContext& context, const Decision& decision) {
  if (decision.on_timeout != OnTimeout::kDefault) {
    reader.fault("\"default\" needs on_timeout: default and a deadline",
                 "Use recommended: true to recommend an option");
    return;
  }
  if (context.author == Author::kModel) {
    reader.fault("only an operator's configuration or a workflow may declare a default",
                 "Remove it, or keep the file in your configuration folder, or in .signalbox of a folder trusted with "
                 "`signalbox trust DIR`",
                 ErrorCode::kForbidden);
  }
  if (!profile.may_default) {
    reader.fault(fmt::format("the {} profile allows no default", profile.id), "Remove default and on_timeout");
  }
  if (decision.door == Door::kOneWay) {
    reader.fault("a one-way door has no default", "Remove default; use on_timeout: wait, park or deny");
  }
}

void read_timeout(Fields& fields, const Profile& profile, const ReadContext& context, Decision& decision) {
  decision.on_timeout = fields.choice<OnTimeout>("on_timeout", kOnTimeouts).value_or(OnTimeout::kWait);
  read_deadline(fields, decision);
  const auto reader = fields.get("default");
  const bool needs_more =
      decision.on_timeout == OnTimeout::kDefault && (!reader || (!decision.deadline_after_ms && !decision.deadline_at));
  if (needs_more && !fields.has("deadline"))
    fields.self().fault("on_timeout: default needs a deadline", "Add deadline: 8h");
  if (needs_more && !reader) fields.self().fault("on_timeout: default needs a default", "Add default: OPTION-ID");
  if (!reader) return;
  check_default(*reader, profile, context, decision);
  if (reader->value().is_array()) {
    decision.default_ids = reader->strings();
  } else if (auto id = reader->string()) {
    decision.default_ids = {*id};
  }
  for (const auto& id : decision.default_ids) {
    if (!decision.find(id)) reader->fault(fmt::format("no option has the id \"{}\"", id), "Name one of the options");
  }
  const int count = static_cast<int>(decision.default_ids.size());
  if (count > 0 && (count < decision.select.min || count > decision.select.max)) {
    reader->fault(fmt::format("the default names {} options; {} to {} may be chosen", count, decision.select.min,
                              decision.select.max),
                  "Name as many as may be chosen");
  }
}

void read_door(Fields& fields, Decision& decision) {
  decision.door = fields.choice<Door>("door", kDoors).value_or(Door::kTwoWay);
  decision.is_door_declared = decision.door == Door::kOneWay;
  decision.irreversible_note = read_text(fields, "irreversible_note");
  if (decision.door == Door::kOneWay && is_blank(decision.irreversible_note)) {
    fields.self().fault("door: one-way needs an irreversible_note",
                        "Describe what is irreversible: irreversible_note: ...");
  }
}

// Words that the contract forbids in a question would be shown as declared, so they are rejected here.
void check_contract(Fields& fields, const Profile& profile, const Decision& decision) {
  if (profile.grammar != Grammar::kStrictNumbers || decision.instruction.empty() || decision.options.size() < 2) return;
  const auto options = fields.get("options");
  LintContext context;
  context.blocking_only = true;
  // In blocks no longer than the grammar allows, so that only the words are checked.
  constexpr std::size_t kAtOnce = 6;
  for (std::size_t first = 0; first < decision.options.size(); first += kAtOnce) {
    std::vector<std::string> labels;
    for (std::size_t i = first; i < std::min(first + kAtOnce, decision.options.size()); ++i) {
      labels.push_back(decision.options[i].label);
    }
    if (labels.size() == 1) labels.push_back(decision.options[0].label);
    const std::string block = render_block(decision.instruction, labels);
    for (const Finding& finding : lint(block, context)) {
      const RuleText& rule = rule_text(finding.rule);
      const std::string_view id = finding.rule.substr(0, 6);
      const bool is_of_instruction = id == "INT002" || id == "INT005" || id == "INT011";
      if (is_of_instruction && first == 0) {
        fields.get("instruction")->fault(std::string(rule.broken), std::string(rule.fix));
      } else if (id == "INT012" || id == "INT013") {
        const auto line = static_cast<std::size_t>(
            std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(finding.start), '\n'));
        const std::size_t index = line < 2 ? first : std::min(first + line - 2, decision.options.size() - 1);
        options->items()[index].fault(fmt::format("option \"{}\": {}", decision.options[index].label, rule.broken),
                                      std::string(rule.fix));
      }
    }
  }
}

// The words of the question may raise a door, never lower it. The note is then generated from the words found, so that
// no host shows the question without a warning. Someone who may say so overrules a word with `door: two-way`.
void raise_by_words(const Fields& fields, const ReadContext& context, Decision& decision) {
  if (decision.door == Door::kOneWay) return;
  std::vector<std::string_view> texts = {decision.instruction};
  for (const Option& option : decision.options) texts.push_back(option.label);
  const DoorFinding finding =
      classify_door({.question_id = decision.question_id, .skill = decision.skill, .texts = texts});
  if (finding.door != Door::kOneWay) return;
  if (fields.has("door") && context.author != Author::kModel && !finding.keyword.empty()) {
    decision.overruled_word = finding.keyword;
    return;
  }
  decision.door = Door::kOneWay;
  if (decision.irreversible_note.empty()) {
    const std::string_view word = finding.keyword.empty() ? std::string_view(decision.question_id) : finding.keyword;
    decision.irreversible_note = text_with(decision.locale, "irreversible", "word", word);
  }
}

}  // namespace

void check_instruction(const Reader& reader, const std::string& instruction, const Profile& profile) {
  const int words = word_units(instruction);
  if (profile.instruction_max_words > 0 && words > profile.instruction_max_words) {
    reader.fault(fmt::format("the instruction has {} words; the {} profile allows {}", words, profile.id,
                             profile.instruction_max_words),
                 "Shorten it");
  }
  if (words == 0) reader.fault("the instruction has no words", "Ask a question");
}

void check_label(const Reader& reader, const std::string& label, const Profile& profile) {
  const int words = word_units(label);
  if (profile.option_max_words > 0 && words > profile.option_max_words) {
    reader.fault(fmt::format("option \"{}\" has {} words; the {} profile allows {}", label, words, profile.id,
                             profile.option_max_words),
                 "Shorten it");
  }
  if (words == 0 && profile.one_sentence) reader.fault(fmt::format("option \"{}\" has no words", label), "Name it");
  if (reads_as_command(label, profile.commands)) {
    reader.fault(fmt::format("option \"{}\" reads as a command", label),
                 "Choose another label; people can always type abort or cancel");
  } else if (reads_as_number(label)) {
    reader.fault(fmt::format("option \"{}\" reads as a number", label), "Add a word, for example a unit");
  }
}

void read_decision(Fields& fields, Placement placement, const Profile& profile, const ReadContext& context,
                   Decision& decision) {
  const bool is_alone = placement == Placement::kStandalone;
  const auto instruction = fields.get("instruction", Need::kRequired);
  if (instruction) {
    if (auto line = read_line(*instruction)) {
      check_instruction(*instruction, *line, profile);
      decision.instruction = std::move(*line);
    }
  }
  read_select(fields, placement, decision.select);
  read_options(fields, profile, context, decision);
  read_bounds(fields, decision);
  check_contract(fields, profile, decision);
  read_door(fields, decision);
  if (const auto sections = fields.get("sections")) decision.sections = read_sections(*sections, decision);
  decision.kind = fields.choice<DecisionKind>("kind", kKinds).value_or(DecisionKind::kChoice);
  if (const auto reader = fields.get("relation")) {
    decision.relation = reader->choice<Relation>(kRelations).value_or(Relation::kUnknown);
    if (decision.relation == Relation::kAlternatives && decision.select.mode == SelectMode::kMany) {
      reader->fault("alternatives cannot use select: many", "Use select: one, or relation: independent");
    }
  }
  decision.header = read_line(fields, "header").value_or("");
  if (!is_alone) {
    raise_by_words(fields, context, decision);
    return;
  }
  decision.title = read_line(fields, "title").value_or("");
  decision.label = fields.string("label", Need::kOptional, 32).value_or("");
  decision.skill = fields.string("skill", Need::kOptional, limits::kIdBytes).value_or("");
  if (fields.has("question_id")) decision.question_id = read_id(fields, "question_id");
  fields.get("question_id");
  read_form(fields, decision);
  decision.secret = fields.boolean("secret").value_or(false) || decision.kind == DecisionKind::kSecret;
  decision.typed_confirmation = read_line(fields, "typed_confirmation").value_or("");
  decision.digest = fields.string("digest", Need::kOptional, 256).value_or("");
  static constexpr Table<bool> kGates[] = {{"human_approval", true}};
  decision.human_approval = fields.choice<bool>("gate", kGates).value_or(false);
  raise_by_words(fields, context, decision);
  read_timeout(fields, profile, context, decision);
}

}  // namespace sb::decision
