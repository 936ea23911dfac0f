#include "host/loopback_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/crypto.hpp"
#include "hook/events/event.hpp"
#include "hook/events/event_answers.hpp"
#include "host/hook_path.hpp"
#include "host/model_proxy.hpp"
#include "mcp/http/http_server.hpp"
#include "mcp/service.hpp"

namespace sb::host {
namespace {

constexpr std::size_t kMcpTokenBytes = 32;

constexpr std::string_view kInstructions =
    "You work on one session of a workflow, step by step. Do exactly the step you are shown, then submit it with "
    "complete_step; its result is the next step, what is missing, or that the workflow is complete.";

// The driver's tools, over MCP.
class ProgramToolService final : public mcp::Service {
 public:
  ProgramToolService(agent::ProgramDriver& driver, const std::atomic<bool>& is_closed)
      : driver_(driver), is_closed_(is_closed) {}

  Value tools() override {
    Value items = Value::array();
    for (const agent::ToolDeclaration& tool : driver_.tools()) {
      items.push_back(
          Value::object({{"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}}));
    }
    return items;
  }

  mcp::HandlerResult call_tool(std::string_view name, const Value& arguments, mcp::Call& call) override {
    driver_.note_activity();
    const auto tools = driver_.tools();
    const bool is_known = std::ranges::any_of(tools, [&](const auto& tool) { return tool.name == name; });
    if (!is_known) {
      return mcp::RpcError{net::rpc::kInvalidParams, fmt::format("Unknown tool {}", quote_json(name))};
    }
    const agent::ToolRun run{
        .should_continue = [&] { return !is_closed_ && !(call.is_cancelled && call.is_cancelled->load()); },
        .on_output = [this](std::string_view) { driver_.note_activity(); }};
    const Value input = arguments.is_null() ? Value::object() : arguments;
    const auto result = driver_.call({.id = {}, .name = std::string(name), .input = input}, run);
    driver_.note_activity();
    return mcp::tool_result({mcp::text_content(result.text)}, result.is_error);
  }

 private:
  agent::ProgramDriver& driver_;
  const std::atomic<bool>& is_closed_;
};

// Called before the program runs one of its own tools: nothing if it may.
std::string answer_hook(agent::ProgramDriver& driver, const std::string& json) {
  const auto event = hook::read_event(json);
  if (!event || event->kind != hook::EventKind::kPreToolUse) return "";
  const std::string why =
      driver.tool_denial({.id = event->tool_use_id, .name = event->tool, .input = event->tool_input});
  return why.empty() ? "" : hook::deny_response(why);
}

class HostedEndpoint final : public agent::ProgramEndpoint {
 public:
  HostedEndpoint(const Seams& seams, net::HttpClient& http, agent::ProgramDriver& driver,
                 const agent::ModelSettings* upstream)
      : seams_(seams), driver_(driver), seal_key_(seams.random.bytes(32)) {
    mcp_token = "sbg_" + to_base32(seams.random.bytes(kMcpTokenBytes));
    hook_.emplace(
        loop_, [this](std::string_view token) { return is_mine(token); },
        [this](const std::string& event) { return answer_hook(driver_, event); });
    if (upstream != nullptr) proxy_.emplace(loop_, ProxyParts{seams, http, driver, *upstream, mcp_token});
  }

  ~HostedEndpoint() override {
    is_closed_ = true;
    if (proxy_) proxy_->stop();
    if (!thread_.joinable()) return;
    loop_.post([this] { server_->close([this] { loop_.stop(); }); });
    thread_.join();
    server_.reset();
    proxy_.reset();
    hook_.reset();
  }

  Status open() {
    server_.emplace(loop_, server_parts(), options());
    SB_TRY(server_->open());
    port = server_->port();
    const std::string base = fmt::format("http://127.0.0.1:{}", port);
    mcp_url = base + "/mcp";
    hook_url = base + "/hook";
    if (proxy_) proxy_url = base + "/model";
    thread_ = std::thread([this] { loop_.run(); });
    return {};
  }

 private:
  mcp::ServerParts server_parts() {
    const auto version = Value::object({{"name", "signalbox"}, {"title", "Signalbox"}, {"version", SIGNALBOX_VERSION}});
    return {.facts = {.info = version, .instructions = std::string(kInstructions)},
            .make_service = [this] { return std::make_unique<ProgramToolService>(driver_, is_closed_); },
            .seal_key = [this] { return seal_key_; },
            // No one is asked anything over this connection, so there is no state that could be reused.
            .is_first_use = [](std::string_view, TimestampMs) -> Result<bool> { return false; },
            .clock = seams_.clock,
            .random = seams_.random};
  }

  mcp::HttpOptions options() {
    mcp::HttpOptions options;
    options.bearer = [this](std::string_view token) -> std::optional<mcp::Caller> {
      if (!is_mine(token)) return std::nullopt;
      return mcp::Caller{.principal = "agent", .is_local_user = false};
    };
    options.fallback = [this](net::HttpRequest request, const net::ExchangePtr& exchange) {
      if (proxy_ && request.path != "/hook") return proxy_->handle(std::move(request), exchange);
      hook_->handle(std::move(request), exchange);
    };
    return options;
  }

  bool is_mine(std::string_view token) const { return constant_time_equal(token, mcp_token); }

  Seams seams_;
  agent::ProgramDriver& driver_;
  const std::string seal_key_;
  std::atomic<bool> is_closed_ = false;
  net::EventLoop loop_;
  std::optional<ModelProxy> proxy_;
  std::optional<HookEndpoint> hook_;
  std::optional<mcp::HttpServer> server_;
  std::thread thread_;
};

class LoopbackHost final : public agent::AgentHost {
 public:
  LoopbackHost(const Seams& seams, net::HttpClient& http) : seams_(seams), http_(http) {}

  Result<std::unique_ptr<agent::ProgramEndpoint>> open(agent::ProgramDriver& driver,
                                                       const agent::ModelSettings* upstream) override {
    auto place = std::make_unique<HostedEndpoint>(seams_, http_, driver, upstream);
    SB_TRY(place->open());
    return place;
  }

 private:
  Seams seams_;
  net::HttpClient& http_;
};

}  // namespace

std::unique_ptr<agent::AgentHost> make_agent_host(const Seams& seams, net::HttpClient& http) {
  return std::make_unique<LoopbackHost>(seams, http);
}

}  // namespace sb::host
