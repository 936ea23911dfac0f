#include "base/document/yaml_tree.hpp"

#include <fmt/format.h>
#include <libfyaml.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb {
namespace {

std::string join_pointer(const std::vector<std::string>& steps) {
  std::string pointer;
  for (const auto& step : steps) pointer += '/' + escape_pointer(step);
  return pointer;
}

struct FreeDocument {
  void operator()(fy_document* document) const { fy_document_destroy(document); }
};
struct FreeParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
using YamlDocument = std::unique_ptr<fy_document, FreeDocument>;

struct YamlFault {
  std::string message;
  int line = 0;
  int column = 0;
};

fy_parse_cfg yaml_config(fy_diag* diag) {
  fy_parse_cfg config{};
  config.diag = diag;
  // Lets duplicate keys through, so that they can be reported with their location.
  config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 |
                                                 FYPCF_ALLOW_DUPLICATE_KEYS);
  return config;
}

// Parses the first document, or reports what is wrong. `count` is the number of documents (2 for "more than one").
YamlDocument parse_yaml(std::string_view text, int& count, YamlFault& fault) {
  fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;
  fy_diag* diag = fy_diag_create(&diag_config);
  fy_diag_set_collect_errors(diag, true);
  const fy_parse_cfg config = yaml_config(diag);
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
    fault = {error->msg ? error->msg : "invalid YAML", error->line, error->column};
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
  std::size_t nodes = 0;
  std::vector<std::string> path;
  std::optional<Error> error;

  void fail_here(ErrorCode code, std::string message, std::string remedy) {
    if (error) return;
    error = Error{code, std::move(message), std::move(remedy), {}, false};
    error->location.pointer = join_pointer(path);
  }

  Value build(fy_node* node, int depth) {
    if (error) return {};
    if (++nodes > limits::kDocumentNodes) {
      fail_here(ErrorCode::kLimit, fmt::format("more than {} values in one document", limits::kDocumentNodes),
                "Split it");
      return {};
    }
    // This also stops at an alias that refers to a node around it.
    if (depth > limits::kDocumentDepth) {
      fail_here(ErrorCode::kLimit, fmt::format("nested deeper than {} levels", limits::kDocumentDepth),
                "Flatten it, and remove aliases that contain themselves");
      return {};
    }
    if (node && fy_node_is_alias(node)) {
      fy_node* target = fy_node_resolve_alias(node);
      if (!target) {
        fail_here(ErrorCode::kInvalid, "alias (*name) without an anchor (&name)", "Define the anchor before it");
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
        fail_here(ErrorCode::kInvalid, "the key is not a plain string", "Use a plain string as the key");
        break;
      }
      std::string name(data, length);
      path.push_back(name);
      if (!seen.insert(name).second) {
        fail_here(ErrorCode::kInvalid, fmt::format("duplicate key \"{}\"", name), "Keep only one");
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

// Resolves a pointer. For a duplicate key it returns the last one, because that is the one to report.
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

Result<Value> yaml_tree(std::string_view text) {
  int count = 0;
  YamlFault fault;
  const YamlDocument yaml = parse_yaml(text, count, fault);
  if (!yaml) {
    return fail(ErrorCode::kInvalid,
                fault.message.empty() ? "invalid YAML" : fmt::format("invalid YAML: {}", fault.message),
                "Fix the syntax here", SourceLocation{"", "", fault.line, fault.column});
  }
  if (count > 1) return fail(ErrorCode::kInvalid, "more than one document in the file (---)", "Keep one per file");
  YamlTree tree{0, {}, {}};
  Value root = tree.build(fy_document_root(yaml.get()), 0);
  if (tree.error) return std::unexpected(std::move(*tree.error));
  return root;
}

std::optional<std::size_t> offset_in_yaml(std::string_view text, std::string_view pointer) {
  int count = 0;
  YamlFault fault;
  const YamlDocument document = parse_yaml(text, count, fault);
  const fy_mark* mark = document ? mark_of(document.get(), pointer) : nullptr;
  if (!mark) return std::nullopt;
  const std::size_t offset = mark->input_pos;
  // The mark of a quoted scalar is after its opening quote.
  const bool is_quoted = offset > 0 && offset <= text.size() && (text[offset - 1] == '"' || text[offset - 1] == '\'');
  return is_quoted ? offset - 1 : offset;
}

}  // namespace sb
