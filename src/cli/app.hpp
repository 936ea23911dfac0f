// A command's options, flags and subcommands. Wraps CLI11 in a few functions because its header takes seconds to
// compile; app.cpp is the only file that includes it.
//
// parse() writes the values from the command line into the declared variables, which must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sb::cli {

// What is printed about an option.
struct OptionFacts {
  std::vector<std::string> names = {};  // `--json`; for a positional argument its name alone, `FILE`
  std::string value = {};               // what the help writes for the value: TEXT, N; empty for a flag
  std::string help = {};
  std::vector<std::string> choices = {};  // the only valid values, if they are known
  std::string default_value = {};         // if the help shows it
  bool is_positional = false;
  bool is_required = false;
};

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  Option* range(std::int64_t min, std::int64_t max);
  Option* one_of(std::vector<std::string> names);
  Option* excludes(const Option* other);
  Option* excludes(const std::vector<std::string>& names);  // options that are already declared
  Option* once_each();                                      // each value needs the option's name before it
  Option* shows_default();                                  // the help shows the variable's current value

  OptionFacts facts() const;

 private:
  CLI::Option* option_;
  std::vector<std::string> choices_;
};

class App {
 public:
  App(const std::string& description, const std::string& name);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  Option* add_option(const std::string& name, std::string& into, const std::string& help);
  Option* add_option(const std::string& name, std::optional<std::string>& into, const std::string& help);
  Option* add_option(const std::string& name, std::vector<std::string>& into, const std::string& help);
  Option* add_option(const std::string& name, int& into, const std::string& help);
  Option* add_option(const std::string& name, std::optional<int>& into, const std::string& help);
  Option* add_flag(const std::string& name, bool& into, const std::string& help);
  App* add_subcommand(const std::string& name, const std::string& summary);
  void require_subcommand(std::size_t min, std::size_t max);
  void require_subcommand(std::size_t count) { require_subcommand(count, count); }

  std::string name() const;       // `install`
  std::string full_name() const;  // `signalbox mcp install`
  std::string summary() const;
  std::vector<App*> subcommands() const;     // in the order in which they were added
  std::vector<OptionFacts> options() const;  // the same
  void set_description(const std::string& text);
  void set_footer(const std::string& text);
  std::string footer() const;
  const App& innermost() const;  // the innermost subcommand that was given, after parse()

  // The result of parsing a command line.
  struct Parsed {
    enum class Kind { kExitOk, kHelp, kUnexpected, kError };
    Kind kind = Kind::kExitOk;
    std::string where = {};               // `signalbox mcp install`: the innermost subcommand that was given
    std::string message = {};             // kError: what is wrong; kUnexpected: the unknown argument
    std::vector<std::string> known = {};  // kUnexpected: the valid options or subcommands
  };
  Parsed parse(const std::vector<std::string>& arguments);
  bool got_subcommand(const App* subcommand) const;  // after parse()

 private:
  explicit App(CLI::App* app);
  Option* keep(CLI::Option* option);
  Parsed unexpected() const;
  std::string called() const;

  const App* parent_ = nullptr;
  std::unique_ptr<CLI::App> own_;  // set in the outermost only; it owns the subcommands
  CLI::App* app_;
  std::vector<std::unique_ptr<App>> subcommands_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace sb::cli
