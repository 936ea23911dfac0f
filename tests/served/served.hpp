// `signalbox serve` as its users have it: a process of its own with a home of its own, and a client that blocks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/value.hpp"

namespace sb::server_tests {

// A folder that goes with everything in it.
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
  int code = -1;  // 128 + signal when ended by one
  std::string output, errors;
};

// With the folder as home and current folder. To its end.
ProgramResult run_program(const std::string& program, const std::string& folder, std::vector<std::string> arguments);

// With --json and the port given (0: one of its own choosing). ProgramResult with this.
class Server {
 public:
  Server(const std::string& program, const std::string& folder, std::vector<std::string> arguments = {}, int port = 0);
  ~Server();
  Server(const Server&) = delete;

  int port() const { return port_; }  // 0: it did not start
  std::size_t resident_kilobytes() const;
  void signal(int number) const;
  // Waits for its end, for at most a minute (then it is killed and the code is 137).
  int wait();

 private:
  pid_t process_ = 0;
  int port_ = 0;
  int output_ = -1;
};

struct Answer {
  int status = 0;  // 0: the connection ended before an answer was whole
  std::string head, body;

  std::string header(std::string_view name) const;
  // The only message, or the last one of a stream of events.
  Value message() const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// One connection, opened again when it is lost between two requests.
class Client {
 public:
  explicit Client(int port) : port_(port) {}
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;

  Answer ask(std::string_view method, std::string_view path, const Headers& headers, std::string_view body = {});
  // Sends and reads the head only; for streams that stay open.
  int begin(std::string_view method, std::string_view path, const Headers& headers, std::string_view body = {});
  // Of a stream: what is there until its text ends with that, or the stream ends.
  std::string read_until(std::string_view text);
  // Reads the rest of a stream; whether it was ended rather than broken off.
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
  bool is_whole_ = false;  // the last chunk has come
};

// A client of the sessions' era, and requests of the stateless one.
class Session {
 public:
  explicit Session(int port, std::string token = {});
  bool is_open() const { return !id_.empty(); }
  Answer request(std::string_view method, const Value& params);
  Answer call(std::string_view tool, const Value& arguments);
  // The stream for notifications, on a connection of its own.
  bool listen(Client& client) const;
  Client& client() { return client_; }
  Headers headers() const;

 private:
  Client client_;
  std::string token_, id_;
  int last_ = 0;
};
Answer stateless_call(Client& client, int id, std::string_view tool, const Value& arguments);

// Raises the limit of open files to what is allowed; what it then is.
std::size_t raise_file_limit();

}  // namespace sb::server_tests
