// A conversation with a Peer, for tests: a client that sends lines and receives messages, a service with a few tools, a
// clock moved by hand, and a check of every received message against the protocol's own schema, if available.
//
// Threads: none; handlers run on the test's thread, inside say().
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "mcp/peer/peer.hpp"
#include "net/testing.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::mcp {

inline Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : Value();
}

// The published schemas of two revisions: 2025-11-25 and 2026-07-28. Without the files only the JSON-RPC envelope of a
// message is checked.
class WireSchemas {
 public:
  static WireSchemas& shared() {
    static WireSchemas schemas;
    return schemas;
  }
  bool is_there(Revision revision) const { return documents_.contains(revision); }

  // What is wrong with a message from the server; `method` is that of the request a response answers.
  std::string fault(Revision revision, const Value& message, const std::string& method) {
    if (!is_there(revision)) return envelope_fault(message);
    std::string whole = violations(revision, definition_of(revision, message, method), message);
    const Value* result = message.find("result");
    if (!whole.empty() || result == nullptr) return whole;
    if (result->string_at("resultType") == "input_required")
      return violations(revision, "InputRequiredResult", *result);
    for (const Value::Member& definition : documents_.at(revision)["definitions"].members())
      if (definition.name.ends_with("Request") && method_of(definition.value) == method) {
        const std::string name = definition.name.substr(0, definition.name.size() - 7) + "Result";
        if (documents_.at(revision)["definitions"].find(name) != nullptr) return violations(revision, name, *result);
      }
    return {};
  }

  static std::string envelope_fault(const Value& message) {
    if (message.string_at("jsonrpc") != "2.0") return "jsonrpc is not 2.0";
    if (message.string_at("method")) return {};
    if (message.find("method") != nullptr) return "method is not a string";
    const Value* error = message.find("error");
    if ((message.find("result") != nullptr) == (error != nullptr)) return "neither a result nor an error, or both";
    if (error == nullptr) return message["id"].is_null() ? "a result without an id" : "";
    return (*error)["code"].is_integer() && error->string_at("message") ? "" : "an error without a code or message";
  }

 private:
  WireSchemas() {
    const char* given = std::getenv("SIGNALBOX_MCP_SCHEMAS");
    const std::string folder = given != nullptr ? given : SB_SOURCE_DIR "/../shared/reference/mcp";
    const SystemFiles files;
    for (const Revision revision : {Revision::k2025_11_25, Revision::k2026_07_28}) {
      const auto text = files.read(folder + "/schema-" + std::string(name_of(revision)) + ".json", 8u << 20);
      if (!text) continue;
      const auto schema = parse_json(*text, {.bytes = 8u << 20, .depth = 100, .nodes = 1'000'000});
      if (schema) documents_[revision] = as_draft_07(*schema);
    }
  }

  // Our validator supports draft-07: equivalent for these schemas, under other names.
  static Value as_draft_07(const Value& part) {
    if (part.is_array()) {
      Value items = Value::array();
      for (const Value& item : part.items()) items.push_back(as_draft_07(item));
      return items;
    }
    if (!part.is_object()) return part;
    Value object = Value::object();
    for (const Value::Member& member : part.members()) {
      if (member.name == "$schema" && member.value.is_string()) continue;
      if (member.name == "format" && member.value.is_string()) continue;
      if (member.name == "$ref" && member.value.is_string())
        object.set("$ref", "#/definitions/" + member.value.as_string().substr(std::string("#/$defs/").size()));
      else
        object.set(member.name == "$defs" ? "definitions" : member.name, as_draft_07(member.value));
    }
    return object;
  }

  static std::string method_of(const Value& definition) {
    return definition["properties"]["method"].string_at("const").value_or("");
  }

  std::string definition_of(Revision revision, const Value& message, const std::string&) const {
    const Value& definitions = documents_.at(revision)["definitions"];
    if (const auto method = message.string_at("method"))
      for (const Value::Member& definition : definitions.members())
        if (method_of(definition.value) == *method) return definition.name;
    if (message.find("method") != nullptr) return "an unknown method";
    if (message.find("error") == nullptr) return "JSONRPCResultResponse";
    for (const Value::Member& definition : definitions.members())
      for (const Value& part : definition.value["properties"]["error"]["allOf"].is_array()
                                   ? definition.value["properties"]["error"]["allOf"].items()
                                   : Value::Array{})
        if (part["properties"]["code"]["const"] == message["error"]["code"]) return definition.name;
    return "JSONRPCErrorResponse";
  }

  std::string violations(Revision revision, const std::string& definition, const Value& value) {
    auto& compiled = compiled_[{revision, definition}];
    if (!compiled) {
      Value schema = documents_.at(revision);
      schema.set("allOf", Value(Value::Array{Value::object({{"$ref", "#/definitions/" + definition}})}));
      auto result = workflow::JsonSchema::compile(schema);
      if (!result) return definition + ": " + result.error().to_string();
      compiled = std::make_unique<workflow::JsonSchema>(*std::move(result));
    }
    std::string text;
    for (const workflow::SchemaViolation& violation : compiled->check(value))
      text += definition + violation.pointer + ": " + violation.message + "\n";
    return text;
  }

  std::map<Revision, Value> documents_;
  std::map<std::pair<Revision, std::string>, std::unique_ptr<workflow::JsonSchema>> compiled_;
};

// What tools do, defined by the tests.
class ScriptedService final : public Service {
 public:
  using Tool = std::function<HandlerResult(const Value& arguments, Call& call)>;
  struct Script {
    std::map<std::string, Tool, std::less<>> tools;
    std::map<std::string, std::string, std::less<>> resources;  // URI to text
    std::map<std::string, Tool, std::less<>> prompts;
    std::map<std::string, std::string, std::less<>> fingerprints;
    std::size_t fillers = 0;  // additional tools, to fill pages
    std::atomic<int> calls = 0;
  };
  explicit ScriptedService(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Value tools() override {
    Value list = Value::array();
    const auto add = [&](std::string name) {
      list.push_back(Value::object({{"name", std::move(name)},
                                    {"title", "A tool"},
                                    {"description", "Does it"},
                                    {"inputSchema", Value::object({{"type", "object"}})}}));
    };
    for (const auto& [name, tool] : script_->tools) add(name);
    for (std::size_t i = 0; i < script_->fillers; ++i) add("filler_" + std::to_string(i));
    return list;
  }
  HandlerResult call_tool(std::string_view name, const Value& arguments, Call& call) override {
    ++script_->calls;
    const auto found = script_->tools.find(name);
    if (found == script_->tools.end()) return RpcError{net::rpc::kInvalidParams, "There is no such tool."};
    return found->second(arguments, call);
  }
  Value resources() override {
    Value list = Value::array();
    for (const auto& [uri, text] : script_->resources)
      list.push_back(Value::object({{"uri", uri}, {"name", uri}, {"title", "T"}}));
    return list;
  }
  std::optional<HandlerResult> read_resource(const std::string& uri, Call&) override {
    const auto found = script_->resources.find(uri);
    if (found == script_->resources.end()) return std::nullopt;
    const Value text = Value::object({{"uri", uri}, {"text", found->second}});
    return Value::object({{"contents", Value(Value::Array{text})}});
  }
  bool has_resource(const std::string& uri) override { return script_->resources.contains(uri); }
  std::string fingerprint(const std::string& what) override { return script_->fingerprints[what]; }
  Value prompts() override {
    Value list = Value::array();
    for (const auto& [name, prompt] : script_->prompts) list.push_back(Value::object({{"name", name}}));
    return list;
  }
  std::optional<HandlerResult> get_prompt(std::string_view name, const Value& arguments, Call& call) override {
    const auto found = script_->prompts.find(name);
    if (found == script_->prompts.end()) return std::nullopt;
    return found->second(arguments, call);
  }
  std::optional<Completion> complete(const Value& reference, std::string_view, std::string_view begun,
                                     const Value&) override {
    if (reference.string_at("name") != "many") return std::nullopt;
    std::vector<std::string> values;
    for (int i = 0; i < 150; ++i) values.push_back(std::string(begun) + std::to_string(i));
    return values;
  }

 private:
  std::shared_ptr<Script> script_;
};

class PeerFixture {
 public:
  explicit PeerFixture(PeerOrigin origin = {})
      : workers([this] { return std::make_unique<ScriptedService>(script); }, 0, 0),
        states(Seal("key"), clock, random,
               [this](std::string_view nonce, TimestampMs) { return used.insert(std::string(nonce)).second; }),
        watch(scheduler, workers) {
    peer = std::make_shared<Peer>(shared, std::move(origin));
    path = std::make_shared<Path>(*this);
    if (!origin.is_single_request) peer->set_general(path);
  }
  ~PeerFixture() {
    peer->close();
    scheduler.run_posted();
  }

  // Sends a line from the client and processes everything that follows from it without time passing.
  void say_line(std::string_view line) {
    note_requests(line);
    peer->receive(net::read_rpc(line), path);
    scheduler.run_posted();
  }
  void say(const Value& message) { say_line(to_json(message)); }
  void wait_ms(std::int64_t duration_ms) {
    clock.sleep_ms(duration_ms);
    scheduler.advance_ms(duration_ms);
  }
  // Messages received since the last call.
  std::vector<Value> heard() { return std::exchange(heard_, {}); }
  // The same, expecting exactly one message.
  Value one() {
    const std::vector<Value> all = heard();
    EXPECT_EQ(all.size(), 1u) << (all.empty() ? "" : to_json(all.back()));
    return all.empty() ? Value() : all.front();
  }
  Value ask(const Value& message) {
    say(message);
    return one();
  }

  Value open(std::string_view version = "2025-11-25", std::string_view capabilities = R"({"elicitation":{}})") {
    Value request = json(R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"clientInfo":
                             {"name":"tester","version":"1"}}})");
    request.find("params")->set("protocolVersion", version);
    request.find("params")->set("capabilities", json(capabilities));
    const Value answer = ask(request);
    say_line(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    return answer;
  }
  static Value call(Value id, std::string_view tool, Value arguments = Value::object()) {
    return net::rpc_request(std::move(id), "tools/call",
                            Value::object({{"name", tool}, {"arguments", std::move(arguments)}}));
  }
  // The same request in the form of the stateless era.
  static Value stateless(Value request, std::string_view capabilities = R"({"elicitation":{}})") {
    Value params = request["params"].is_object() ? request["params"] : Value::object();
    Value meta = params["_meta"].is_object() ? params["_meta"] : Value::object();
    meta.set("io.modelcontextprotocol/protocolVersion", "2026-07-28");
    meta.set("io.modelcontextprotocol/clientCapabilities", json(capabilities));
    params.set("_meta", std::move(meta));
    request.set("params", std::move(params));
    return request;
  }

  net::FakeScheduler scheduler;
  FakeClock clock;
  FakeRandom random;
  std::set<std::string> used;
  std::shared_ptr<ScriptedService::Script> script = std::make_shared<ScriptedService::Script>();
  net::WorkerPool<Service> workers;
  RequestStates states;
  ChangeWatcher watch;
  ServerFacts facts{.info = json(R"({"name":"test","title":"Test","version":"1"})"),
                    .instructions = "Be quick.",
                    .has_resources = true,
                    .has_prompts = true,
                    .has_completions = true,
                    .has_logging = true};
  PeerShared shared{facts, scheduler, workers, states, random, clock, watch};
  std::shared_ptr<Peer> peer;
  std::size_t silent_ends = 0;
  bool checks_schema = true;

 private:
  class Path final : public ReplyPath {
   public:
    explicit Path(PeerFixture& conversation) : conversation_(conversation) {}
    void send(const Value& message) override { conversation_.hear(message); }
    void finish(const Value& response) override { conversation_.hear(response); }
    void finish_silently() override { ++conversation_.silent_ends; }

   private:
    PeerFixture& conversation_;
  };

  void note_requests(std::string_view line) {
    for (const net::RpcMessage& message : net::read_rpc(line).messages)
      if (const auto* request = std::get_if<net::RpcRequest>(&message))
        requests_[to_json(request->id)] = {
            request->method, request->params["_meta"].find("io.modelcontextprotocol/protocolVersion") != nullptr};
  }
  void hear(const Value& message) {
    heard_.push_back(message);
    if (!checks_schema || message.is_array()) return;
    const auto asked = message.find("method") == nullptr ? requests_.find(to_json(message["id"])) : requests_.end();
    const bool is_stateless_answer = asked != requests_.end() ? asked->second.second : !peer || !peer->is_initialized();
    const Revision revision = is_stateless_answer ? Revision::k2026_07_28 : Revision::k2025_11_25;
    const std::string fault =
        WireSchemas::shared().fault(revision, message, asked != requests_.end() ? asked->second.first : "");
    EXPECT_EQ(fault, "") << to_json(message);
  }

  std::shared_ptr<Path> path;
  std::vector<Value> heard_;
  std::map<std::string, std::pair<std::string, bool>> requests_;  // by id: method, whether stateless
};

// Asks for a name, then returns the greeting; a call without an answer is parked.
inline HandlerResult greet(const Value& arguments, Call& call) {
  const Input* name = call.input("name");
  if (name == nullptr)
    return InputRequired{
        .requests = {{"name", "elicitation/create",
                      json(R"({"message":"Who are you?","requestedSchema":{"type":"object","properties":
                                  {"name":{"type":"string"}},"required":["name"]}})")}},
        .state = Value::object({{"greeting", arguments.string_at("greeting").value_or("Hello")}}),
        .bound_to = "greeting"};
  if (name->kind != Input::Kind::kAnswered) return tool_result({text_content("parked")});
  return tool_result({text_content(call.state.string_at("greeting").value_or("?") + " " +
                                   name->value["content"].string_at("name").value_or("nobody"))});
}

// The first text of a tool's result.
inline std::string text_of(const Value& response) {
  const Value& content = response["result"]["content"];
  return content.is_array() && content.size() > 0 ? content.items()[0].string_at("text").value_or("") : "";
}

inline Value accept(const Value& id, std::string_view name) {
  return net::rpc_result(id, Value::object({{"action", "accept"}, {"content", Value::object({{"name", name}})}}));
}

}  // namespace sb::mcp
