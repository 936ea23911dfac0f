// Converts a client's arguments into a tool's inputs, or into an error that shows a correct call.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "mcp/tools/tool_spec.hpp"

namespace sb::mcp {
namespace {

constexpr double kNear = 0.6;
constexpr std::size_t kSuggestions = 3;
constexpr std::size_t kFaults = 20;
constexpr std::size_t kEchoedBytes = 200;
constexpr std::size_t kEchoedDepth = 3;
constexpr std::size_t kNameBytes = 64;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

// Whether one name consists of the first or last words of the other: `notes` of `notesMarkdown`, `token` of
// `continueToken`.
bool is_part(std::string_view wrong, std::string_view right) {
  constexpr std::size_t kWordBytes = 4;
  const std::string part = plain(wrong), whole = plain(right);
  if (part.size() < kWordBytes || part.size() >= whole.size() || whole.size() != right.size()) return false;
  return (whole.starts_with(part) && is_capital(right[part.size()])) ||
         (whole.ends_with(part) && is_capital(right[right.size() - part.size()]));
}

// 1: equal except for case and separators; 0: nothing in common. Based on edit distance, but a part of a name counts as
// close.
double similarity(std::string_view wrong, std::string_view right) {
  const std::string a = plain(wrong), b = plain(right);
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer == 0 || longer > kNameBytes) return 0;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  const double near = 1.0 - static_cast<double>(row[b.size()]) / static_cast<double>(longer);
  return is_part(wrong, right) ? std::max(near, kNear) : near;
}

struct Nearest {
  std::string_view name = {};
  double similarity = 0;
};

Nearest nearest(std::string_view wrong, const std::vector<std::string_view>& names) {
  Nearest best;
  for (const std::string_view name : names) {
    if (const double near = similarity(wrong, name); near >= kNear && near > best.similarity) best = {name, near};
  }
  return best;
}

std::string shown(std::string_view name) {
  return name.size() <= kNameBytes ? std::string(name) : fmt::format("{}…", utf8_prefix(name, kNameBytes));
}

Value placeholder(const Field& field) {
  switch (field.kind) {
    case Field::Kind::kText:
      return field.placeholder.empty() ? fmt::format("<{}>", field.name) : std::string(field.placeholder);
    case Field::Kind::kPath:
      return "/absolute/path";
    case Field::Kind::kCommit:
      return std::string(40, '0');
    case Field::Kind::kChoice:
      return field.choices.front();
    case Field::Kind::kFlag:
      return true;
    case Field::Kind::kObject: {
      Value object = Value::object();
      for (const Field& member : field.members) {
        if (member.is_required) object.set(member.name, placeholder(member));
      }
      return object;
    }
    case Field::Kind::kJson:
      return parse_json(field.placeholder).value_or(Value::object());
    case Field::Kind::kJsonText:
      return "{}";
    case Field::Kind::kTexts:
    case Field::Kind::kList:
      return Value::array();
  }
  return {};
}

// What was sent, shortened for the error.
Value echoed(const Value& value, std::size_t depth = kEchoedDepth) {
  if (value.is_string()) return value.as_string().size() <= kEchoedBytes ? value : Value("<as you sent it>");
  if (value.is_array() || value.is_object()) {
    if (depth == 0 || to_json(value).size() > kEchoedBytes * 4) return "<as you sent it>";
    return value;
  }
  return value;
}

class Reading {
 public:
  Reading(const ToolSpec& spec, Inputs& inputs) : spec_(spec), inputs_(inputs) {}

  void read(const Value& arguments) {
    if (!arguments.is_object()) {
      fault("", fmt::format("the arguments must be an object, not {}", kind_name(arguments.kind())));
      return;
    }
    inputs_.given = Value::object();
    read_members(spec_.fields, with_aliases(arguments), "", inputs_.given, correct_);
  }

  void fault(std::string_view path, std::string message) {
    if (faults_.size() < kFaults) {
      faults_.push_back(Value::object({{"path", path}, {"message", message}}));
      messages_.push_back(path.empty() ? std::move(message) : fmt::format("{}: {}", path, message));
    }
  }

  bool has_faults() const { return faults_.size() > 0; }

  engine::SessionError error() {
    Value suggestions = Value::array();
    for (std::size_t i = 0; i < std::min(kSuggestions, suggestions_.size()); ++i) {
      suggestions.push_back(std::move(suggestions_[i]));
    }
    std::string message = fmt::format("invalid call of {}: {}", spec_.name, fmt::join(messages_, "; "));
    return {"VALIDATION_ERROR",
            Error{ErrorCode::kInvalid, std::move(message), "Call it again as shown in correctTemplate", {}, true},
            Value::object({{"validationErrors", std::move(faults_)},
                           {"suggestions", std::move(suggestions)},
                           {"correctTemplate", std::move(correct_)}})};
  }

 private:
  // If both are present, the right name wins over its alias.
  Value with_aliases(const Value& arguments) {
    Value out = Value::object();
    for (const Value::Member& member : arguments.members()) {
      const auto alias = std::ranges::find(spec_.aliases, std::string_view(member.name), &Alias::name);
      if (alias == spec_.aliases.end()) {
        if (!member.value.is_null()) set_unless_there(out, member.name, member.value);
        continue;
      }
      if (member.value.is_null()) continue;
      const std::size_t dot = alias->of.find('.');
      if (dot == std::string_view::npos) {
        if (arguments.find(alias->of) == nullptr) out.set(alias->of, member.value);
        continue;
      }
      Value inner = out.find(alias->of.substr(0, dot)) != nullptr ? out[alias->of.substr(0, dot)]
                                                                  : arguments[alias->of.substr(0, dot)];
      if (inner.is_string()) {
        if (auto read = parse_json(inner.as_string()); read && read->is_object()) inner = std::move(*read);
      }
      if (inner.is_null()) inner = Value::object();
      if (inner.is_object() && inner.find(alias->of.substr(dot + 1)) == nullptr) {
        inner.set(alias->of.substr(dot + 1), member.value);
      }
      out.set(alias->of.substr(0, dot), std::move(inner));
    }
    return out;
  }
  static void set_unless_there(Value& out, std::string_view name, const Value& value) {
    if (out.find(name) == nullptr) out.set(name, value);
  }

  void read_members(const std::vector<Field>& fields, const Value& given, const std::string& path, Value& out,
                    Value& correct) {
    std::vector<std::string_view> names;
    for (const Field& field : fields) names.push_back(field.name);
    std::vector<std::pair<std::string_view, const Value*>> meant;  // the intended names of unknown ones
    for (const Value::Member& member : given.members()) {
      if (std::ranges::find(names, member.name) != names.end()) continue;
      const Nearest near = nearest(member.name, names);
      report_unknown(path, member.name, near);
      if (!near.name.empty() && given.find(near.name) == nullptr) meant.emplace_back(near.name, &member.value);
    }
    for (const Field& field : fields) {
      const std::string at = path.empty() ? std::string(field.name) : fmt::format("{}.{}", path, field.name);
      const Value* value = given.find(field.name);
      if (value == nullptr || value->is_null()) {
        const auto other = std::ranges::find(meant, field.name, &decltype(meant)::value_type::first);
        if (other != meant.end()) correct.set(field.name, echoed(*other->second));
        if (!field.is_required) continue;
        fault(at, "is missing");
        suggestions_.push_back(Value::object({{"kind", "missing_required"}, {"param", at}}));
        if (other == meant.end()) correct.set(field.name, placeholder(field));
        continue;
      }
      read_field(field, *value, at, out, correct);
    }
  }

  void report_unknown(const std::string& path, const std::string& name, const Nearest& near) {
    const std::string at = path.empty() ? shown(name) : fmt::format("{}.{}", path, shown(name));
    if (!near.name.empty()) {
      suggestions_.push_back(Value::object({{"kind", "unknown_key"},
                                            {"key", at},
                                            {"didYouMean", near.name},
                                            {"similarity", std::round(near.similarity * 100) / 100}}));
    }
    const std::string hint = near.name.empty() ? "" : fmt::format("; did you mean {}?", near.name);
    if (spec_.refuses_unknown || !path.empty()) {
      fault(at, fmt::format("is not an input of {}{}", spec_.name, hint));
    } else if (++ignored_ <= kIgnoredReported) {
      inputs_.notes.push_back(fmt::format("{} is not an input of {} and was ignored{}", at, spec_.name,
                                          near.name.empty() ? "" : fmt::format(" (did you mean {}?)", near.name)));
    } else if (ignored_ == kIgnoredReported + 1) {
      inputs_.notes.push_back("other unknown inputs were ignored too");
    }
  }

  void read_field(const Field& field, const Value& value, const std::string& at, Value& out, Value& correct) {
    const std::size_t faults_before = faults_.size();
    if (field.kind == Field::Kind::kObject) {
      if (const auto object = as_object(value, at)) {
        if (field.members.empty()) {
          out.set(field.name, *object);
        } else {
          Value inner = Value::object(), inner_correct = Value::object();
          read_members(field.members, *object, at, inner, inner_correct);
          out.set(field.name, std::move(inner));
          correct.set(field.name, std::move(inner_correct));
          return;
        }
      }
    } else if (auto read = read_plain(field, value, at)) {
      out.set(field.name, std::move(*read));
    }
    correct.set(field.name, faults_.size() == faults_before ? echoed(out[field.name]) : placeholder(field));
  }

  std::optional<Value> read_plain(const Field& field, const Value& value, const std::string& at) {
    switch (field.kind) {
      case Field::Kind::kText:
      case Field::Kind::kPath:
      case Field::Kind::kCommit:
      case Field::Kind::kChoice:
        return read_text(field, value, at);
      case Field::Kind::kFlag:
        return read_flag(value, at);
      case Field::Kind::kTexts:
        return read_texts(value, at);
      case Field::Kind::kList:
        return read_list(value, at);
      case Field::Kind::kJson:
      case Field::Kind::kJsonText:
        if (value.is_string() || value.is_object()) return value;
        return wrong(at, "an object, or a string that contains one", value);
      case Field::Kind::kObject:
        break;
    }
    return {};
  }

  std::nullopt_t wrong(const std::string& at, std::string_view wanted, const Value& value) {
    fault(at, fmt::format("must be {}, not {}", wanted, kind_name(value.kind())));
    return std::nullopt;
  }

  std::optional<Value> read_text(const Field& field, const Value& value, const std::string& at) {
    if (!value.is_string()) return wrong(at, "a text", value);
    const std::string& text = value.as_string();
    if (field.kind == Field::Kind::kChoice) return read_choice(field, text, at);
    if (text.find('\0') != std::string::npos) {
      fault(at, "contains a NUL character");
    } else if (!field.may_be_empty && is_blank(text)) {
      fault(at, "is empty");
    } else if (field.max_bytes > 0 && text.size() > field.max_bytes) {
      fault(at, fmt::format("has {} bytes; at most {} are allowed", text.size(), field.max_bytes));
    } else if (field.kind == Field::Kind::kPath && !text.starts_with('/')) {
      fault(at, fmt::format("{} is not an absolute path", quote_json(shown(text))));
    } else if (field.kind == Field::Kind::kCommit &&
               (text.size() != 40 || text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)) {
      fault(at, "must be a full commit id of 40 hex digits");
    } else {
      return value;
    }
    return {};
  }

  std::optional<Value> read_choice(const Field& field, const std::string& text, const std::string& at) {
    if (std::ranges::find(field.choices, text) != field.choices.end()) return Value(text);
    Value allowed = Value::array();
    for (const std::string_view choice : field.choices) allowed.push_back(choice);
    Value suggestion = Value::object({{"kind", "invalid_enum"}, {"param", at}});
    const Nearest near = nearest(text, field.choices);
    if (!near.name.empty()) suggestion.set("didYouMean", near.name);
    suggestion.set("allowedValues", std::move(allowed));
    suggestions_.push_back(std::move(suggestion));
    fault(at, fmt::format("must be one of {}, not {}", fmt::join(field.choices, ", "), quote_json(shown(text))));
    return {};
  }

  std::optional<Value> read_flag(const Value& value, const std::string& at) {
    if (value.is_bool()) return value;
    if (value.is_string() && (value.as_string() == "true" || value.as_string() == "false")) {
      inputs_.notes.push_back(fmt::format("{} was sent as a string and read as {}", at, value.as_string()));
      return Value(value.as_string() == "true");
    }
    return wrong(at, "true or false", value);
  }

  std::optional<Value> as_object(const Value& value, const std::string& at) {
    if (value.is_object()) return value;
    if (auto read = from_text(value, at); read && read->is_object()) return read;
    return wrong(at, "an object", value);
  }

  // A list or object sent as JSON in a string.
  std::optional<Value> from_text(const Value& value, const std::string& at) {
    if (!value.is_string()) return {};
    const std::string& text = value.as_string();
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || (text[begin] != '{' && text[begin] != '[')) return {};
    auto read = parse_json(text);
    if (!read) {
      fault(at, fmt::format("is a string that looks like JSON but is invalid: {}", read.error().message));
      return {};
    }
    inputs_.notes.push_back(fmt::format("{} was sent as JSON in a string and read as {}", at, kind_name(read->kind())));
    return std::move(*read);
  }

  std::optional<Value> read_list(const Value& value, const std::string& at) {
    std::optional<Value> list = value.is_array() ? std::optional(value) : from_text(value, at);
    if (!list && value.is_object()) list = value;
    if (!list) return wrong(at, "a list", value);
    if (list->is_object()) {
      inputs_.notes.push_back(fmt::format("{} was a single object and read as a list", at));
      list = Value(Value::Array{std::move(*list)});
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      Value& item = list->items()[i];
      if (auto read = from_text(item, fmt::format("{}[{}]", at, i))) item = std::move(*read);
    }
    return list;
  }

  std::optional<Value> read_texts(const Value& value, const std::string& at) {
    std::optional<Value> list = value.is_array() ? std::optional(value) : from_text(value, at);
    if (!list && value.is_string()) {
      inputs_.notes.push_back(fmt::format("{} was a single string and read as a list", at));
      list = Value(Value::Array{value});
    }
    if (!list || !list->is_array()) return wrong(at, "a list of strings", value);
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!list->items()[i].is_string()) return wrong(fmt::format("{}[{}]", at, i), "a text", list->items()[i]);
    }
    return list;
  }

  const ToolSpec& spec_;
  static constexpr int kIgnoredReported = 3;

  Inputs& inputs_;
  int ignored_ = 0;
  Value faults_ = Value::array();
  Value correct_ = Value::object();
  std::vector<std::string> messages_;
  std::vector<Value> suggestions_;
};

}  // namespace

std::expected<Inputs, engine::SessionError> read_inputs(const ToolSpec& spec, const Value& arguments) {
  Inputs inputs;
  Reading reading(spec, inputs);
  reading.read(arguments.is_null() ? Value::object() : arguments);
  if (reading.has_faults()) return std::unexpected(reading.error());
  return inputs;
}

engine::SessionError input_error(const ToolSpec& spec, const Inputs& inputs, std::string_view path, std::string message,
                                 const std::vector<Value::Member>& corrections) {
  Inputs again;
  Reading reading(spec, again);
  reading.read(inputs.given);
  reading.fault(path, std::move(message));
  engine::SessionError error = reading.error();
  Value* correct = error.details.find("correctTemplate");
  for (const Value::Member& correction : corrections) {
    if (correction.value.is_null()) {
      correct->erase(correction.name);
    } else {
      correct->set(correction.name, correction.value);
    }
  }
  return error;
}

}  // namespace sb::mcp
