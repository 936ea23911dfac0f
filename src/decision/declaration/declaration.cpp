#include "decision/declaration/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/reader.hpp"
#include "base/text/unicode.hpp"
#include "decision/classify.hpp"
#include "decision/declaration/declaration_readers.hpp"
#include "decision/door.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

std::string definition_hash(const Value& source, const Profile& profile) {
  return sha256_hex(to_canonical_json(Value::object({
      {"declaration", source},
      {"profile", profile.source},
      {"choosing", choosing_version()},
      {"doors", door_lexicon_version()},
      {"texts", texts_version()},
      {"unicode", unicode_version()},
  })));
}

// Which of the three kinds a document declares; exactly one of the words must be present.
std::optional<std::string_view> declared_kind(const Reader& root) {
  std::optional<std::string_view> kind;
  for (const std::string_view name : {"decision", "flow", "chain"}) {
    if (!root.value().find(name)) continue;
    if (kind) {
      root.fault(fmt::format("both \"{}\" and \"{}\" are given", *kind, name),
                 "A file declares one thing; remove one of them");
      return std::nullopt;
    }
    kind = name;
  }
  if (!kind && root.value().is_object()) {
    root.fault("this declares nothing", "Start with decision: ID, flow: ID or chain: ID");
  }
  return kind;
}

std::string_view fallback_profile(std::string_view kind) {
  return kind == "chain" ? "gstack" : "interaction";
}

}  // namespace

const Option* Decision::find(std::string_view option_id) const {
  const auto found = std::ranges::find(options, option_id, &Option::id);
  return found == options.end() ? nullptr : &*found;
}

Checked<Declaration> parse_declaration(const Document& document, const Profiles& profiles, Author author) {
  Faults faults;
  Reader root(document, faults);
  Fields fields = root.fields();
  const auto kind = declared_kind(root);
  if (!kind) return std::unexpected(std::move(faults));
  const Profile* profile = read_profile_name(fields, profiles, fallback_profile(*kind));
  if (!profile) return std::unexpected(std::move(faults));
  const ReadContext context{profiles, author};
  Declaration declaration;
  declaration.profile = *profile;
  if (*kind == "decision") {
    Decision decision;
    decision.id = read_id(fields, "decision");
    decision.profile = profile->id;
    decision.locale = read_locale(fields, document.root.string_at("instruction").value_or(""));
    read_decision(fields, Placement::kStandalone, *profile, context, decision);
    declaration.what = std::move(decision);
  } else if (*kind == "flow") {
    declaration.what = read_flow(fields, *profile, context);
  } else {
    declaration.what = read_chain(fields, *profile);
  }
  fields.finish();
  if (!faults.empty()) return std::unexpected(std::move(faults));
  declaration.source = document.root;
  declaration.hash = definition_hash(declaration.source, declaration.profile);
  return declaration;
}

const Profile* read_profile_name(Fields& fields, const Profiles& profiles, std::string_view fallback) {
  const auto reader = fields.get("profile");
  const auto name = reader ? reader->string(limits::kIdBytes) : std::string(fallback);
  if (!name) return nullptr;
  const Profile* profile = profiles.find(*name);
  if (!profile) {
    const auto ids = profiles.ids();
    const std::string nearest = nearest_name(*name, ids);
    reader->fault(fmt::format("there is no profile \"{}\"", *name),
                  nearest.empty() ? fmt::format("Use one of: {}", fmt::join(ids, ", "))
                                  : fmt::format("Did you mean {}?", nearest));
  }
  return profile;
}

std::string read_locale(Fields& fields, std::string_view sample_text) {
  if (const auto reader = fields.get("locale")) {
    const auto locale = reader->string(16);
    if (locale && !has_locale(*locale))
      reader->fault(fmt::format("there are no texts for the locale \"{}\"", *locale),
                    fmt::format("Use one of {}", fmt::join(locales(), ", ")));
    return locale.value_or("en");
  }
  bool has_han = false;
  for (std::size_t at = 0; at < sample_text.size();) {
    const char32_t c = next_code_point(sample_text, at);
    if (is_cyrillic(c)) return "ru";
    if (c >= 0x3040 && c <= 0x30FF) return "ja";  // kana
    has_han = has_han || (c >= 0x4E00 && c <= 0x9FFF);
  }
  return has_han ? "zh" : "en";
}

std::string read_id(Fields& fields, std::string_view name, std::size_t max) {
  const auto reader = fields.get(name, Need::kRequired);
  const auto id = reader ? reader->string() : std::nullopt;
  if (!id) return {};
  const bool is_shaped = !id->empty() && std::ranges::all_of(*id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!is_shaped) {
    reader->fault(
        fmt::format("\"{}\" is not a valid id", id->substr(0, 80)),
        fmt::format("Use lower-case letters, digits and hyphens, for example {}", slug_of(*id).substr(0, max)));
  } else if (id->size() > max) {
    reader->fault(fmt::format("the id has {} characters; at most {} are allowed", id->size(), max), "Shorten it",
                  ErrorCode::kLimit);
  }
  return *id;
}

std::optional<TimestampMs> read_time(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name);
  const auto text = reader ? reader->string(64) : std::nullopt;
  if (!text) return std::nullopt;
  const auto time = parse_rfc3339(*text);
  if (!time) {
    reader->fault(time.error().message, time.error().remedy);
    return std::nullopt;
  }
  return *time;
}

std::optional<std::string> read_line(const Reader& reader) {
  auto text = reader.string();
  if (!text) return std::nullopt;
  if (is_blank(*text)) {
    reader.fault("the text is empty", "Write a readable text");
    return std::nullopt;
  }
  for (const char c : *text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      reader.fault(c == '\n' ? "the text has a line break" : "the text has a control character", "Keep it on one line");
      return std::nullopt;
    }
  }
  for (std::size_t at = 0; at < text->size();) {
    const char32_t c = next_code_point(*text, at);
    if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) {
      reader.fault("the text changes the direction of the following text", "Remove the invisible direction marks");
      return std::nullopt;
    }
  }
  if (text->front() == ' ' || text->back() == ' ') {
    reader.fault("the text starts or ends with a space", "Remove it");
    return std::nullopt;
  }
  return nfc(*text);
}

std::optional<std::string> read_line(Fields& fields, std::string_view name, Need need) {
  const auto reader = fields.get(name, need);
  return reader ? read_line(*reader) : std::nullopt;
}

std::string read_text(Fields& fields, std::string_view name) {
  return fields.string(name).value_or("");
}

std::string_view to_string(Bucket bucket) {
  switch (bucket) {
    case Bucket::kInclude:
      return "include";
    case Bucket::kDefer:
      return "defer";
    case Bucket::kCut:
      return "cut";
    case Bucket::kHold:
      return "hold";
  }
  return {};
}

std::string_view to_string(SelectMode mode) {
  switch (mode) {
    case SelectMode::kOne:
      return "one";
    case SelectMode::kMany:
      return "many";
    case SelectMode::kText:
      return "text";
    case SelectMode::kForm:
      return "form";
    case SelectMode::kUrl:
      return "url";
  }
  return {};
}

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::kAlternatives:
      return "alternatives";
    case Relation::kIndependent:
      return "independent";
    case Relation::kUnknown:
      return "unknown";
  }
  return {};
}

std::string_view to_string(Door door) {
  return door == Door::kOneWay ? "one-way" : "two-way";
}

std::string_view to_string(OnTimeout on_timeout) {
  switch (on_timeout) {
    case OnTimeout::kWait:
      return "wait";
    case OnTimeout::kPark:
      return "park";
    case OnTimeout::kDeny:
      return "deny";
    case OnTimeout::kDefault:
      return "default";
  }
  return {};
}

std::string_view to_string(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::kChoice:
      return "choice";
    case DecisionKind::kApproval:
      return "approval";
    case DecisionKind::kConfirmation:
      return "confirmation";
    case DecisionKind::kClarification:
      return "clarification";
    case DecisionKind::kRouting:
      return "routing";
    case DecisionKind::kCherryPick:
      return "cherry-pick";
    case DecisionKind::kMeta:
      return "meta";
    case DecisionKind::kConflict:
      return "conflict";
    case DecisionKind::kFinal:
      return "final";
    case DecisionKind::kRevise:
      return "revise";
    case DecisionKind::kSecret:
      return "secret";
  }
  return {};
}

}  // namespace sb::decision
