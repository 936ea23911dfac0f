#include "host/hook_path.hpp"

#include "hook/hook_program.hpp"
#include "mcp/http/gate.hpp"
#include "mcp/http/headers.hpp"

namespace sb::host {
namespace {

constexpr std::size_t kHookThreads = 4;
constexpr std::size_t kWaitingEvents = 256;

// The streams of the hook program: its input is the event, its output the response.
class EventStreams final : public Streams {
 public:
  explicit EventStreams(std::string event) : event_(std::move(event)) {}

  Result<std::string> read_input(std::size_t max_bytes) override {
    if (event_.size() > max_bytes) return fail(ErrorCode::kLimit, "the event is too large");
    return std::exchange(event_, {});
  }
  Result<std::optional<std::string>> read_line(std::size_t) override { return std::optional<std::string>(); }
  void out(std::string_view text) override { output_ += text; }
  void err(std::string_view) override {}
  Status flush() override { return {}; }
  bool output_closed() const override { return false; }
  bool is_terminal(Stream) const override { return false; }

  std::string take_output() { return std::move(output_); }

 private:
  std::string event_, output_;
};

void refuse(const net::ExchangePtr& exchange, int status, std::string text, net::Headers headers = {}) {
  headers.emplace_back("Content-Type", "text/plain");
  exchange->respond({.status = status, .headers = std::move(headers), .body = std::move(text) + "\n"});
}

}  // namespace

HookEndpoint::HookEndpoint(net::EventLoop& loop, Bearer bearer, Answer answer)
    : loop_(loop),
      bearer_(std::move(bearer)),
      answer_(std::move(answer)),
      workers_([] { return std::make_unique<NoState>(); }, kHookThreads, kWaitingEvents) {}

void HookEndpoint::handle(net::HttpRequest request, const net::ExchangePtr& exchange) {
  if (request.path != "/hook") return refuse(exchange, 404, "Not found");
  if (request.method != "POST") return refuse(exchange, 405, "Only POST is supported", {{"Allow", "POST"}});
  const auto token = request.count("Authorization") == 1 ? mcp::bearer_token(request) : std::nullopt;
  if (!token || !bearer_(*token)) {
    return refuse(exchange, 401, "A bearer token is required; create one with signalbox serve token NAME",
                  {{"WWW-Authenticate", R"(Bearer realm="signalbox")"}});
  }
  if (!mcp::is_json(request)) return refuse(exchange, 415, "Content-Type must be application/json");
  const std::uint64_t number = ++last_;
  waiting_->emplace(number, exchange);
  const bool is_taken = workers_.run([this, number, waiting = std::weak_ptr(waiting_),
                                      event = std::make_shared<std::string>(std::move(request.body))](NoState&) {
    loop_.post([number, waiting, output = answer_(std::move(*event))] {
      const auto all = waiting.lock();
      auto found = all ? all->extract(number) : Waiting::node_type();
      if (found.empty()) return;
      found.mapped()->respond({.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = output});
    });
  });
  if (is_taken) return;
  waiting_->erase(number);
  refuse(exchange, 503, "Too many events are waiting; try again later");
}

HookEndpoint::Answer answer_as_program(const Seams& seams) {
  return [seams](std::string event) {
    EventStreams streams(std::move(event));
    hook::run_program("signalbox-hook", {},
                      {seams.files, seams.clock, seams.random, seams.process, seams.environment, streams});
    return streams.take_output();
  };
}

}  // namespace sb::host
