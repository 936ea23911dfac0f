#include "mcp/http/headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/crypto.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr int kSchemaDepth = 8;

void find_param_headers(const Value& schema, std::vector<std::string>& path, std::vector<ParamHeader>& found) {
  const Value* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object() || path.size() >= kSchemaDepth) return;
  for (const Value::Member& property : properties->members()) {
    path.push_back(property.name);
    if (auto header = property.value.string_at("x-mcp-header")) found.push_back({std::move(*header), path});
    find_param_headers(property.value, path, found);
    path.pop_back();
  }
}

// Standard base64 with padding, as used in the header's wrapper.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string url(text);
  for (int padding = 0; padding < 2 && url.ends_with('='); ++padding) url.pop_back();
  if (url.find_first_of("-_=") != std::string::npos) return std::nullopt;
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  auto bytes = from_base64url(url);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::optional<std::string> decoded(std::string_view header) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  const bool is_wrapped =
      header.size() >= kBegin.size() + kEnd.size() && to_lower(header).starts_with(kBegin) && header.ends_with(kEnd);
  if (!is_wrapped) return std::string(header);
  return from_base64(header.substr(kBegin.size(), header.size() - kBegin.size() - kEnd.size()));
}

net::RpcError mismatch(std::string message) {
  return {.code = code::kHeaderMismatch, .message = std::move(message)};
}

// A header and its required value.
std::optional<net::RpcError> header_fault(const net::HttpRequest& request, const std::string& name,
                                          std::string_view wanted) {
  if (request.count(name) > 1) return mismatch(fmt::format("Multiple {} headers", name));
  const auto header = trimmed_header(request, name);
  if (!header) return mismatch(fmt::format("The {} header is missing; the body says \"{}\"", name, wanted));
  const auto value = decoded(*header);
  if (!value) return mismatch(fmt::format("The {} header is not valid base64", name));
  if (*value == wanted) return std::nullopt;
  return mismatch(fmt::format("The {} header and the body do not agree", name));
}

const Value* argument_at(const Value& arguments, const std::vector<std::string>& path) {
  const Value* value = &arguments;
  for (const std::string& name : path) {
    value = value->find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

// Numbers are compared as numbers: 1 and 1.0 are the same argument.
bool is_same_number(std::string_view header, double wanted) {
  const std::string text(header);
  char* end = nullptr;
  const double given = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && given == wanted;
}

std::optional<net::RpcError> param_fault(const net::HttpRequest& request, const ParamHeader& rule,
                                         const Value& arguments) {
  const std::string name = "Mcp-Param-" + rule.header;
  const Value* argument = argument_at(arguments, rule.path);
  if (argument == nullptr || argument->is_null()) {
    if (request.count(name) == 0) return std::nullopt;
    return mismatch(fmt::format("The {} header repeats an argument that the body does not have", name));
  }
  // Of the wrong kind: the tool's own check reports that better.
  if (argument->is_object() || argument->is_array()) return std::nullopt;
  if (argument->is_string()) return header_fault(request, name, argument->as_string());
  if (argument->is_bool()) return header_fault(request, name, argument->as_bool() ? "true" : "false");
  const auto header = trimmed_header(request, name);
  if (header && request.count(name) == 1 && is_same_number(*header, argument->as_number())) return std::nullopt;
  return header_fault(request, name, to_json(*argument));
}

std::optional<net::RpcError> meta_fault(const net::RpcRequest& message) {
  const auto invalid = [](std::string text) {
    return net::RpcError{.code = net::rpc::kInvalidParams, .message = std::move(text)};
  };
  const Value* meta = message.params.find("_meta");
  if (meta == nullptr || !meta->is_object()) {
    return invalid(
        fmt::format("params._meta is missing: it must have \"{}\" and \"{}\"", kVersionKey, kCapabilitiesKey));
  }
  const Value* version = meta->find(kVersionKey);
  if (version == nullptr || !version->is_string()) {
    return invalid(fmt::format("params._meta must have \"{}\", a string", kVersionKey));
  }
  const Value* capabilities = meta->find(kCapabilitiesKey);
  if (capabilities == nullptr || !capabilities->is_object()) {
    return invalid(fmt::format("params._meta must have \"{}\", an object", kCapabilitiesKey));
  }
  return std::nullopt;
}

std::optional<std::string> name_in_body(const net::RpcRequest& message) {
  if (message.method == "tools/call" || message.method == "prompts/get") return message.params.string_at("name");
  if (message.method == "resources/read") return message.params.string_at("uri");
  return std::nullopt;
}

}  // namespace

ParamHeaders param_headers_of(const Value& tools) {
  ParamHeaders all;
  if (!tools.is_array()) return all;
  for (const Value& tool : tools.items()) {
    const auto name = tool.string_at("name");
    const Value* schema = tool.find("inputSchema");
    if (!name || schema == nullptr) continue;
    std::vector<std::string> path;
    std::vector<ParamHeader> found;
    find_param_headers(*schema, path, found);
    if (!found.empty()) all.emplace(*name, std::move(found));
  }
  return all;
}

std::optional<std::string_view> trimmed_header(const net::HttpRequest& request, std::string_view name) {
  const auto value = request.header(name);
  return value ? std::optional(trimmed(*value)) : std::nullopt;
}

const Value* claimed_version(const net::RpcMessage& message) {
  const Value* params = nullptr;
  if (const auto* request = std::get_if<net::RpcRequest>(&message)) params = &request->params;
  if (const auto* notification = std::get_if<net::RpcNotification>(&message)) params = &notification->params;
  const Value* meta = params == nullptr ? nullptr : params->find("_meta");
  return meta == nullptr ? nullptr : meta->find(kVersionKey);
}

bool is_of_stateless_era(const net::HttpRequest& request, const net::RpcMessage& message) {
  if (claimed_version(message) != nullptr) return true;
  const auto header = trimmed_header(request, "MCP-Protocol-Version");
  const auto revision = header ? revision_of(*header) : std::nullopt;
  return revision && is_stateless(*revision);
}

std::optional<net::RpcError> stateless_fault(const net::HttpRequest& request, const net::RpcRequest& message,
                                             const ParamHeaders& param_headers) {
  if (auto fault = meta_fault(message)) return fault;
  // A copy: the message becomes an RpcMessage for the check.
  const std::string version = claimed_version(message)->as_string();
  if (auto fault = header_fault(request, "MCP-Protocol-Version", version)) return fault;
  if (!revision_of(version)) return std::nullopt;
  if (auto fault = header_fault(request, "Mcp-Method", message.method)) return fault;
  const auto name = name_in_body(message);
  if (!name) return std::nullopt;
  if (auto fault = header_fault(request, "Mcp-Name", *name)) return fault;
  const auto rules = message.method == "tools/call" ? param_headers.find(*name) : param_headers.end();
  if (rules == param_headers.end()) return std::nullopt;
  for (const ParamHeader& rule : rules->second) {
    if (auto fault = param_fault(request, rule, message.params["arguments"])) return fault;
  }
  return std::nullopt;
}

bool accepts(const net::HttpRequest& request, std::string_view type) {
  if (request.count("Accept") == 0) return true;
  const std::string any_of_its = std::string(type.substr(0, type.find('/'))) + "/*";
  for (const auto& [name, value] : request.headers) {
    if (to_lower(name) != "accept") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto comma = std::min(rest.find(','), rest.size());
      const std::string_view range = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      const std::string essence = to_lower(trimmed(range.substr(0, range.find(';'))));
      if (essence == type || essence == "*/*" || essence == any_of_its) return true;
    }
  }
  return false;
}

bool is_json(const net::HttpRequest& request) {
  if (request.count("Content-Type") != 1) return false;
  const std::string_view value = *request.header("Content-Type");
  return to_lower(trimmed(value.substr(0, value.find(';')))) == "application/json";
}

}  // namespace sb::mcp
