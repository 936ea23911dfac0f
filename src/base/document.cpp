#include "base/document.hpp"

#include <fmt/format.h>
#include <libfyaml.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <unordered_set>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/reader.hpp"
#include "base/unicode.hpp"

namespace sb {
namespace {

struct LineColumn {
  int line = 1;
  int column = 1;
};

LineColumn line_column_at(std::string_view text, std::size_t offset) {
  LineColumn at;
  offset = std::min(offset, text.size());
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

std::string join_pointer(const std::vector<std::string>& steps) {
  std::string pointer;
  for (const auto& step : steps) pointer += '/' + pointer_step(step);
  return pointer;
}

// Builds the tree while Boost.JSON parses, and stops at the first duplicate key or limit.
class TreeBuilder {
 public:
  static constexpr std::size_t max_array_size = -1;
  static constexpr std::size_t max_object_size = -1;
  static constexpr std::size_t max_string_size = -1;
  static constexpr std::size_t max_key_size = -1;
  using error_code = boost::json::error_code;
  using string_view = boost::json::string_view;

  Value root;
  std::optional<Error> error;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& code) { return open(Value::object(), code); }
  bool on_object_end(std::size_t, error_code& code) { return close(code); }
  bool on_array_begin(error_code& code) { return open(Value::array(), code); }
  bool on_array_end(std::size_t, error_code& code) { return close(code); }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& code) {
    key_.append(part.data(), part.size());
    Frame& frame = frames_.back();
    if (frame.has(key_)) {
      error =
          Error{ErrorCode::kInvalid, fmt::format("the key \"{}\" is given twice", key_), "Keep one of them", {}, false};
      error->place.pointer = pointer() + '/' + pointer_step(key_);
      return stop(code);
    }
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code& code) {
    text_.append(part.data(), part.size());
    Value value(std::move(text_));
    text_.clear();
    return add(std::move(value), code);
  }
  bool on_number_part(string_view part, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, string_view, error_code& code) {
    text_.clear();
    return add(Value(static_cast<long>(number)), code);
  }
  bool on_uint64(std::uint64_t number, string_view, error_code& code) {
    text_.clear();
    return add(Value(static_cast<double>(number)), code);
  }
  bool on_double(double number, string_view part, error_code& code) {
    text_.append(part.data(), part.size());
    // Boost.JSON 1.81 can be off by the last bit, and hashes are taken of what we read here.
    std::from_chars(text_.data(), text_.data() + text_.size(), number);
    text_.clear();
    if (!std::isfinite(number)) {
      error = Error{ErrorCode::kInvalid, "a number is too large", "Use a smaller one", {}, false};
      return stop(code);
    }
    return add(Value(number), code);
  }
  bool on_bool(bool value, error_code& code) { return add(Value(value), code); }
  bool on_null(error_code& code) { return add(Value(), code); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  struct Frame {
    Value value;
    std::string key;                       // of this value in its parent
    std::unordered_set<std::string> keys;  // filled only when the object is large
    bool has(const std::string& name) {
      constexpr std::size_t kLarge = 16;
      if (value.size() < kLarge) return value.find(name) != nullptr;
      if (keys.empty()) {
        for (const auto& member : value.members()) keys.insert(member.name);
      }
      return !keys.insert(name).second;
    }
  };

  std::string pointer() const {
    std::string out;
    for (std::size_t i = 1; i < frames_.size(); ++i) {
      const Value& parent = frames_[i - 1].value;
      out += '/' + (parent.is_array() ? std::to_string(parent.size()) : pointer_step(frames_[i].key));
    }
    return out;
  }

  bool stop(error_code& code) {
    code = boost::json::error::syntax;
    return false;
  }

  bool count(error_code& code) {
    if (++nodes_ <= limits::kDocumentNodes) return true;
    error = Error{ErrorCode::kLimit,
                  fmt::format("more than {} values in one document", limits::kDocumentNodes),
                  "Split it",
                  {},
                  false};
    return stop(code);
  }

  bool open(Value value, error_code& code) {
    if (!count(code)) return false;
    if (frames_.size() >= limits::kDocumentDepth) {
      error = Error{ErrorCode::kLimit,
                    fmt::format("nested deeper than {} levels", limits::kDocumentDepth),
                    "Flatten it",
                    {},
                    false};
      return stop(code);
    }
    frames_.push_back({std::move(value), std::move(key_), {}});
    key_.clear();
    return true;
  }

  bool close(error_code& code) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    key_ = std::move(frame.key);
    --nodes_;
    return add(std::move(frame.value), code);
  }

  bool add(Value value, error_code& code) {
    if (!count(code)) return false;
    if (frames_.empty()) {
      root = std::move(value);
    } else if (Value& parent = frames_.back().value; parent.is_array()) {
      parent.items().push_back(std::move(value));
    } else {
      parent.members().push_back({std::move(key_), std::move(value)});
      key_.clear();
    }
    return true;
  }

  std::vector<Frame> frames_;
  std::string key_;
  std::string text_;
  std::size_t nodes_ = 0;
};

struct JsonFailure {
  Error error;
  std::size_t offset;
};

std::expected<Value, JsonFailure> build_json(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = limits::kDocumentDepth + 1;
  boost::json::basic_parser<TreeBuilder> parser(options);
  boost::json::error_code code;
  std::size_t used = parser.write_some(false, text.data(), text.size(), code);
  const auto failure = [&](std::string message, std::string remedy) {
    return std::unexpected(
        JsonFailure{Error{ErrorCode::kInvalid, std::move(message), std::move(remedy), {}, false}, used});
  };
  if (parser.handler().error) return std::unexpected(JsonFailure{std::move(*parser.handler().error), used});
  if (code == boost::json::error::incomplete) return failure("the JSON ends too early", "Close what is open");
  if (code) return failure(fmt::format("not JSON: {}", code.message()), "Mend the syntax here");
  if (text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    used = text.find_first_not_of(" \t\r\n", used);
    return failure("text follows the end of the JSON", "Keep one value a document");
  }
  return std::move(parser.handler().root);
}

// --- YAML by libfyaml
// -------------------------------------------------------------------------------------------------

struct FreeDocument {
  void operator()(fy_document* document) const { fy_document_destroy(document); }
};
struct FreeParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
using YamlDocument = std::unique_ptr<fy_document, FreeDocument>;

struct YamlFailure {
  std::string message;
  int line = 0;
  int column = 0;
};

fy_parse_cfg yaml_config(fy_diag* diag, bool allow_duplicates) {
  fy_parse_cfg config{};
  config.diag = diag;
  config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 |
                                                 (allow_duplicates ? FYPCF_ALLOW_DUPLICATE_KEYS : 0));
  return config;
}

// The first of two or more documents, or what was wrong. `count` says how many there are (2 for "more than one").
YamlDocument parse_yaml(std::string_view text, bool allow_duplicates, int& count, YamlFailure& failure) {
  fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;
  fy_diag* diag = fy_diag_create(&diag_config);
  fy_diag_set_collect_errors(diag, true);
  const fy_parse_cfg config = yaml_config(diag, allow_duplicates);
  std::unique_ptr<fy_parser, FreeParser> parser(fy_parser_create(&config));
  YamlDocument first;
  count = 0;
  if (parser && fy_parser_set_string(parser.get(), text.data(), text.size()) == 0) {
    first.reset(fy_parse_load_document(parser.get()));
    if (first) {
      count = 1;
      YamlDocument second(fy_parse_load_document(parser.get()));
      if (second && fy_document_root(second.get())) count = 2;
    }
  }
  void* state = nullptr;
  if (const fy_diag_error* error = fy_diag_errors_iterate(diag, &state)) {
    failure = {error->msg ? error->msg : "not YAML", error->line, error->column};
    first.reset();
  }
  parser.reset();
  fy_diag_destroy(diag);
  return first;
}

Value scalar_value(fy_node* node) {
  std::size_t length = 0;
  const char* data = fy_node_get_scalar(node, &length);
  const std::string_view text = data ? std::string_view(data, length) : std::string_view();
  const char* tag_data = fy_node_get_tag(node, &length);
  if (tag_data && std::string_view(tag_data, length) == "tag:yaml.org,2002:str") return Value(text);
  fy_token* token = fy_node_get_scalar_token(node);
  if (token && fy_token_scalar_style(token) != FYSS_PLAIN) return Value(text);
  // The YAML 1.2 core schema.
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Value();
  if (text == "true" || text == "True" || text == "TRUE") return Value(true);
  if (text == "false" || text == "False" || text == "FALSE") return Value(false);
  const bool has_plus = text.starts_with('+');
  const char* const begin = text.data() + has_plus;
  const char* const end = text.data() + text.size();
  if (begin == end || !(std::isdigit(static_cast<unsigned char>(*begin)) || *begin == '-' || *begin == '.'))
    return Value(text);
  if (has_plus && *begin == '-') return Value(text);
  std::int64_t integer = 0;
  const bool is_octal_like = text.starts_with("0o"), is_hex = text.starts_with("0x");
  if (is_octal_like || is_hex) {
    const auto [stop, error] = std::from_chars(text.data() + 2, end, integer, is_hex ? 16 : 8);
    return stop == end && error == std::errc{} && text.size() > 2 && text[2] != '-' ? Value(static_cast<long>(integer))
                                                                                    : Value(text);
  }
  if (const auto [stop, error] = std::from_chars(begin, end, integer); stop == end && error == std::errc{}) {
    return Value(static_cast<long>(integer));
  }
  double number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  const bool is_plain_number = text.find_first_not_of("+-.eE0123456789") == std::string_view::npos;
  if (stop == end && error == std::errc{} && is_plain_number && std::isfinite(number)) return Value(number);
  return Value(text);
}

struct YamlTree {
  fy_document* document;
  std::size_t nodes = 0;
  std::vector<std::string> path;
  std::optional<Error> error;

  void fail_here(ErrorCode code, std::string message, std::string remedy) {
    if (error) return;
    error = Error{code, std::move(message), std::move(remedy), {}, false};
    error->place.pointer = join_pointer(path);
  }

  Value build(fy_node* node, int depth) {
    if (error) return {};
    if (++nodes > limits::kDocumentNodes) {
      fail_here(ErrorCode::kLimit, fmt::format("more than {} values in one document", limits::kDocumentNodes),
                "Split it");
      return {};
    }
    // An alias that leads back to a node around it ends here, too.
    if (depth > limits::kDocumentDepth) {
      fail_here(ErrorCode::kLimit, fmt::format("nested deeper than {} levels", limits::kDocumentDepth),
                "Flatten it, and let no part name itself");
      return {};
    }
    if (node && fy_node_is_alias(node)) {
      fy_node* target = fy_node_resolve_alias(node);
      if (!target) {
        fail_here(ErrorCode::kInvalid, "an alias (*name) without its anchor (&name)", "Define the anchor before it");
        return {};
      }
      return build(target, depth + 1);
    }
    if (!node) return {};
    switch (fy_node_get_type(node)) {
      case FYNT_SCALAR:
        return scalar_value(node);
      case FYNT_SEQUENCE:
        return build_sequence(node, depth);
      case FYNT_MAPPING:
        return build_mapping(node, depth);
    }
    return {};
  }

  Value build_sequence(fy_node* node, int depth) {
    Value out = Value::array();
    void* state = nullptr;
    while (fy_node* item = fy_node_sequence_iterate(node, &state)) {
      path.push_back(std::to_string(out.size()));
      out.push_back(build(item, depth + 1));
      path.pop_back();
      if (error) break;
    }
    return out;
  }

  Value build_mapping(fy_node* node, int depth) {
    Value out = Value::object();
    std::unordered_set<std::string> seen;
    void* state = nullptr;
    while (fy_node_pair* pair = fy_node_mapping_iterate(node, &state)) {
      fy_node* key = fy_node_pair_key(pair);
      std::size_t length = 0;
      const char* data = key && fy_node_is_scalar(key) ? fy_node_get_scalar(key, &length) : nullptr;
      if (!data) {
        fail_here(ErrorCode::kInvalid, "a key that is not a plain text", "Use a word as the key");
        break;
      }
      std::string name(data, length);
      path.push_back(name);
      if (!seen.insert(name).second) {
        fail_here(ErrorCode::kInvalid, fmt::format("the key \"{}\" is given twice", name), "Keep one of them");
      }
      if (name == "<<") fail_here(ErrorCode::kInvalid, "merge keys (<<) are not supported", "Write the members out");
      out.members().push_back({name, build(fy_node_pair_value(pair), depth + 1)});
      path.pop_back();
      if (error) break;
    }
    return out;
  }
};

std::vector<std::string> split_pointer(std::string_view pointer) {
  std::vector<std::string> steps;
  for (std::size_t at = 0; at < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    std::string step;
    for (std::size_t i = at + 1; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
        step += pointer[++i] == '0' ? '~' : '/';
      } else {
        step += pointer[i];
      }
    }
    steps.push_back(std::move(step));
    at = end;
  }
  return steps;
}

// Where a pointer leads. Of a key that is there twice, the last one: that is the one to blame.
const fy_mark* mark_of(fy_document* document, std::string_view pointer) {
  fy_node* node = fy_document_root(document);
  fy_node* shown = node;
  for (const auto& step : split_pointer(pointer)) {
    for (int hops = 0; node && fy_node_is_alias(node) && hops < 8; ++hops) node = fy_node_resolve_alias(node);
    if (!node) break;
    if (fy_node_is_sequence(node)) {
      node = shown = fy_node_sequence_get_by_index(node, std::atoi(step.c_str()));
      continue;
    }
    if (!fy_node_is_mapping(node)) break;
    fy_node* found = nullptr;
    fy_node* found_key = nullptr;
    void* state = nullptr;
    while (fy_node_pair* pair = fy_node_mapping_iterate(node, &state)) {
      std::size_t length = 0;
      fy_node* key = fy_node_pair_key(pair);
      const char* data = key && fy_node_is_scalar(key) ? fy_node_get_scalar(key, &length) : nullptr;
      if (data && std::string_view(data, length) == step) {
        found = fy_node_pair_value(pair);
        found_key = key;
      }
    }
    if (!found_key) break;
    node = found;
    shown = found_key;
  }
  if (!shown) return nullptr;
  while (fy_node_is_sequence(shown) || fy_node_is_mapping(shown)) {
    // A block collection has no token of its own: it starts where its first part starts.
    fy_node* inner = nullptr;
    void* state = nullptr;
    if (fy_node_is_sequence(shown)) {
      inner = fy_node_sequence_iterate(shown, &state);
    } else if (fy_node_pair* pair = fy_node_mapping_iterate(shown, &state)) {
      inner = fy_node_pair_key(pair);
    }
    if (!inner) return nullptr;
    shown = inner;
  }
  fy_token* token = fy_node_get_scalar_token(shown);
  return token ? fy_token_start_mark(token) : nullptr;
}

}  // namespace

std::string pointer_step(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

Place Document::place_of(std::string_view pointer) const {
  Place place{name, std::string(pointer), 0, 0};
  int count = 0;
  YamlFailure failure;
  const YamlDocument document = parse_yaml(text, /*allow_duplicates=*/true, count, failure);
  if (!document) return place;
  if (const fy_mark* mark = mark_of(document.get(), pointer)) {
    std::size_t offset = mark->input_pos;
    // The mark of a quoted scalar stands behind its quote.
    if (offset > 0 && offset <= text.size() && (text[offset - 1] == '"' || text[offset - 1] == '\'')) --offset;
    const LineColumn at = line_column_at(text, offset);
    place.line = at.line;
    place.column = at.column;
  }
  return place;
}

Result<Value> parse_json(std::string_view text) {
  if (text.size() > limits::kDocumentBytes) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} bytes of JSON", limits::kDocumentBytes), "Send less");
  }
  auto built = build_json(text);
  if (built) return std::move(*built);
  Error error = std::move(built.error().error);
  const LineColumn at = line_column_at(text, built.error().offset);
  error.place.line = at.line;
  error.place.column = at.column;
  return std::unexpected(std::move(error));
}

Result<Document> parse_document(std::string name, std::string text, Syntax syntax) {
  Document document{std::move(name), std::move(text), {}};
  const auto refuse = [&](ErrorCode code, std::string message, std::string remedy) {
    return fail(code, std::move(message), std::move(remedy), Place{document.name, "", 0, 0});
  };
  if (document.text.size() > limits::kDocumentBytes) {
    return refuse(ErrorCode::kLimit, fmt::format("the document is larger than {} bytes", limits::kDocumentBytes),
                  "Split it");
  }
  if (!is_utf8(document.text)) return refuse(ErrorCode::kInvalid, "the document is not UTF-8", "Save it as UTF-8");
  if (document.text.find('\0') != std::string::npos) {
    return refuse(ErrorCode::kInvalid, "the document contains a NUL byte", "Remove it");
  }
  if (document.text.starts_with("\xEF\xBB\xBF")) document.text.erase(0, 3);
  const std::size_t first = document.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    return refuse(ErrorCode::kInvalid, "the document is empty", "Write a declaration into it");
  if (syntax == Syntax::kAuto) {
    syntax = document.text[first] == '{' || document.text[first] == '[' ? Syntax::kJson : Syntax::kYaml;
    // A YAML flow mapping also starts with a brace; only real JSON takes the fast path.
    if (syntax == Syntax::kJson && !document.name.ends_with(".yaml") && !document.name.ends_with(".yml")) {
      // as found
    } else if (syntax == Syntax::kJson) {
      if (auto built = build_json(document.text)) {
        document.root = std::move(*built);
        return document;
      }
      syntax = Syntax::kYaml;
    }
  }
  if (syntax == Syntax::kJson) {
    auto built = build_json(document.text);
    if (!built) {
      Error error = std::move(built.error().error);
      if (!error.place.pointer.empty()) {
        error.place = document.place_of(error.place.pointer);
      } else {
        const LineColumn at = line_column_at(document.text, built.error().offset);
        error.place = Place{"", "", at.line, at.column};
      }
      error.place.file = document.name;
      return std::unexpected(std::move(error));
    }
    document.root = std::move(*built);
    return document;
  }
  int count = 0;
  YamlFailure failure;
  const YamlDocument yaml = parse_yaml(document.text, /*allow_duplicates=*/true, count, failure);
  if (!yaml) {
    return fail(ErrorCode::kInvalid,
                failure.message.empty() ? "not YAML" : fmt::format("not YAML: {}", failure.message),
                "Mend the syntax here", Place{document.name, "", failure.line, failure.column});
  }
  if (count > 1) return refuse(ErrorCode::kInvalid, "more than one document in the file (---)", "Keep one a file");
  YamlTree tree{yaml.get(), 0, {}, {}};
  document.root = tree.build(fy_document_root(yaml.get()), 0);
  if (tree.error) {
    tree.error->place = document.place_of(tree.error->place.pointer);
    return std::unexpected(std::move(*tree.error));
  }
  return document;
}

Result<Document> load_document(const Files& files, const std::string& path) {
  auto text = SB_TRY(files.read(path, limits::kDocumentBytes));
  return parse_document(path, std::move(text));
}

}  // namespace sb
