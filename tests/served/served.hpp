// `signalbox serve` as a separate process with its own home, and a blocking client.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/value.hpp"

namespace sb::server_tests {

// A temporary folder, removed with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ProgramResult {
  int code = -1;  // 128 + signal if ended by one
  std::string output, errors;
};

// Runs a program to its end, with the folder as home and current folder.
ProgramResult run_program(const std::string& program, const std::string& folder, std::vector<std::string> arguments);

// The output of `signalbox serve token NAME`.
std::string make_token(const std::string& program, const std::string& folder, const std::string& name);

// Runs `signalbox serve --json` on the given port (0: a free one). The destructor ends it.
class Server {
 public:
  Server(const std::string& program, const std::string& folder, std::vector<std::string> arguments = {}, int port = 0);
  ~Server();
  Server(const Server&) = delete;

  int port() const { return port_; }  // 0: it did not start
  std::size_t resident_kilobytes() const;
  void signal(int number) const;
  // Waits for its end for at most a minute; then kills it and returns 137.
  int wait();

 private:
  pid_t process_ = 0;
  int port_ = 0;
  int output_ = -1;
};

struct Answer {
  int status = 0;  // 0: the connection ended before the answer was complete
  std::string head, body;

  std::string header(std::string_view name) const;
  // The only message, or the last one of an event stream.
  Value message() const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// One connection, reopened if it is lost between two requests.
class Client {
 public:
  explicit Client(int port) : port_(port) {}
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;

  Answer ask(std::string_view method, std::string_view path, const Headers& headers, std::string_view body = {});
  // Sends a request and reads only the head, for streams that stay open.
  int begin(std::string_view method, std::string_view path, const Headers& headers, std::string_view body = {});
  // Reads a stream until its text ends with `text`, or the stream ends.
  std::string read_until(std::string_view text);
  // Reads the rest of a stream; true if it ended properly and was not interrupted.
  bool ends_well();
  void close();

 private:
  bool send(std::string_view method, std::string_view path, const Headers& headers, std::string_view body);
  bool read_head(std::string& head);
  bool read_chunk(std::string& into);
  bool read_more();

  int port_;
  int socket_ = -1;
  std::string got_;
  bool is_whole_ = false;  // the last chunk has arrived
};

// A client of the MCP revisions with sessions; stateless_call is for the stateless revision.
class Session {
 public:
  // `capabilities` of the client, as JSON. Without a token the server refuses it.
  explicit Session(int port, std::string token = {}, std::string_view capabilities = "{}");
  bool is_open() const { return !id_.empty(); }
  Answer request(std::string_view method, const Value& params);
  Answer call(std::string_view tool, const Value& arguments);
  // Opens the notification stream on a separate connection.
  bool listen(Client& client) const;
  Client& client() { return client_; }
  Headers headers() const;

 private:
  Client client_;
  std::string token_, id_;
  int last_ = 0;
};
Answer stateless_call(Client& client, const std::string& token, int id, std::string_view tool, const Value& arguments);

// Raises the limit of open files to the maximum, and returns it.
std::size_t raise_file_limit();

}  // namespace sb::server_tests
