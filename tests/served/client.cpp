#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "base/document/document.hpp"
#include "served/served.hpp"

namespace sb::server_tests {
namespace {

constexpr const char* kVersion = "2026-07-28";
constexpr int kSilenceMs = 120'000;

Headers json_headers() {
  return {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
}

int connect_to(int port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(made, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) return made;
  ::close(made);
  return -1;
}

std::string header_in(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    if (line.size() > name.size() + 1 && line[name.size()] == ':' &&
        ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
      const auto begin = line.find_first_not_of(' ', name.size() + 1);
      return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
    }
  }
  return {};
}

int status_in(std::string_view head) {
  int status = 0;
  if (head.size() > 12) std::from_chars(head.data() + 9, head.data() + 12, status);
  return status;
}

}  // namespace

std::string Answer::header(std::string_view name) const {
  return header_in(head, name);
}

Value Answer::message() const {
  if (header("Content-Type") != "text/event-stream") return parse_json(body).value_or(Value());
  const auto at = body.rfind("\ndata: ");
  if (at == std::string::npos) return {};
  return parse_json(body.substr(at + 7, body.find('\n', at + 1) - at - 7)).value_or(Value());
}

Client::~Client() {
  close();
}

Client::Client(Client&& other) noexcept
    : port_(other.port_), socket_(std::exchange(other.socket_, -1)), got_(std::move(other.got_)) {}

void Client::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  got_.clear();
}

bool Client::send(std::string_view method, std::string_view path, const Headers& headers, std::string_view body) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: localhost:{}\r\n", method, path, port_);
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  text += fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  if (socket_ < 0) socket_ = connect_to(port_);
  if (socket_ < 0) return false;
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t wrote = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (wrote <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

bool Client::read_more() {
  pollfd waiting{socket_, POLLIN, 0};
  if (socket_ < 0 || ::poll(&waiting, 1, kSilenceMs) != 1) return false;
  char buffer[65536];
  const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
  if (count > 0) got_.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

bool Client::read_head(std::string& head) {
  std::size_t at = 0;
  while ((at = got_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return false;
  }
  head = got_.substr(0, at + 4);
  got_.erase(0, at + 4);
  return true;
}

// False at the last chunk, and if the connection ends before it.
bool Client::read_chunk(std::string& into) {
  std::size_t line = 0;
  while ((line = got_.find("\r\n")) == std::string::npos) {
    if (!read_more()) return false;
  }
  const std::size_t size = std::strtoull(got_.c_str(), nullptr, 16);
  while (got_.size() < line + 2 + size + 2) {
    if (!read_more()) return false;
  }
  into += got_.substr(line + 2, size);
  got_.erase(0, line + 2 + size + 2);
  is_whole_ = size == 0;
  return size > 0;
}

Answer Client::ask(std::string_view method, std::string_view path, const Headers& headers, std::string_view body) {
  Answer answer;
  if (!send(method, path, headers, body) || !read_head(answer.head)) {
    close();
    return {};
  }
  if (answer.header("Transfer-Encoding") == "chunked") {
    while (read_chunk(answer.body)) {
    }
  } else {
    const std::size_t length = std::strtoull(answer.header("Content-Length").c_str(), nullptr, 10);
    while (got_.size() < length) {
      if (!read_more()) return {};
    }
    answer.body = got_.substr(0, length);
    got_.erase(0, length);
  }
  answer.status = status_in(answer.head);
  if (answer.header("Connection") == "close") close();
  return answer;
}

int Client::begin(std::string_view method, std::string_view path, const Headers& headers, std::string_view body) {
  std::string head;
  return send(method, path, headers, body) && read_head(head) ? status_in(head) : 0;
}

std::string Client::read_until(std::string_view text) {
  std::string all;
  while (!all.ends_with(text) && read_chunk(all)) {
  }
  return all;
}

bool Client::ends_well() {
  std::string rest;
  while (read_chunk(rest)) {
  }
  return is_whole_;
}

Session::Session(int port, std::string token, std::string_view capabilities) : client_(port), token_(std::move(token)) {
  const Value info = Value::object({{"name", "served-test"}, {"version", "1"}});
  const Answer opened =
      request("initialize", Value::object({{"protocolVersion", "2025-11-25"},
                                           {"capabilities", parse_json(capabilities).value_or(Value())},
                                           {"clientInfo", info}}));
  id_ = opened.header("Mcp-Session-Id");
  client_.ask("POST", "/mcp", headers(), R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

Headers Session::headers() const {
  Headers all = json_headers();
  if (!id_.empty()) all.emplace_back("Mcp-Session-Id", id_);
  if (!token_.empty()) all.emplace_back("Authorization", "Bearer " + token_);
  return all;
}

Answer Session::request(std::string_view method, const Value& params) {
  const Value message = Value::object({{"jsonrpc", "2.0"}, {"id", ++last_}, {"method", method}, {"params", params}});
  return client_.ask("POST", "/mcp", headers(), to_json(message));
}

Answer Session::call(std::string_view tool, const Value& arguments) {
  return request("tools/call", Value::object({{"name", tool}, {"arguments", arguments}}));
}

bool Session::listen(Client& client) const {
  return client.begin("GET", "/mcp", headers()) == 200;
}

Answer stateless_call(Client& client, const std::string& token, int id, std::string_view tool, const Value& arguments) {
  const Value meta = Value::object({{"io.modelcontextprotocol/protocolVersion", kVersion},
                                    {"io.modelcontextprotocol/clientCapabilities", Value::object()}});
  const Value params = Value::object({{"name", tool}, {"arguments", arguments}, {"_meta", meta}});
  const Value message = Value::object({{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}});
  Headers headers = json_headers();
  headers.emplace_back("MCP-Protocol-Version", kVersion);
  headers.emplace_back("Mcp-Method", "tools/call");
  headers.emplace_back("Mcp-Name", tool);
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return client.ask("POST", "/mcp", headers, to_json(message));
}

}  // namespace sb::server_tests
