// readme_check [--update] PROGRAMS FILE
//
// Runs the transcripts of a Markdown file (transcript.hpp says what they look like) with the programs in the folder
// PROGRAMS, in order, in a new folder with a copy of the examples/ beside FILE. Prints each difference. Exit code 0 if
// there is none, 1 if there is one, 2 if the check cannot run. With --update, it writes what was printed into FILE.
//
// The user is called ann there, in /home/ann, whatever the names are here.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/text/pattern.hpp"
#include "readme/transcript.hpp"

namespace {

namespace fs = std::filesystem;
using sb::readme::Example;
using sb::readme::Lines;
using sb::readme::Row;

constexpr std::size_t kFileBytes = 1u << 20;
constexpr std::int64_t kCommandMs = 120'000;

// A folder with bin/ (the programs) and ann/ (the home of the user, where commands run), removed at the end.
class Place {
 public:
  Place(const fs::path& programs, const fs::path& examples) : programs_(fs::canonical(programs)) {
    std::string pattern = (fs::canonical(fs::temp_directory_path()) / "readme.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    root_ = pattern;
    fs::create_directory(root_ / "bin");
    for (const char* name : {"signalbox", "signalbox-hook"}) {
      fs::create_symlink(fs::canonical(programs_ / name), root_ / "bin" / name);
    }
    fs::create_directory(home());
    fs::copy(examples, home() / "examples", fs::copy_options::recursive);
    if (const passwd* user = ::getpwuid(::geteuid())) user_ = user->pw_name;
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  fs::path home() const { return root_ / "ann"; }

  std::map<std::string, std::string> environment() const {
    return {{"PATH", (root_ / "bin").string() + ":/usr/local/bin:/usr/bin:/bin"},
            {"HOME", home().string()},
            {"USER", "ann"},
            {"TERM", "xterm"},
            {"NO_COLOR", "1"},
            {"LC_ALL", "C.UTF-8"}};
  }

  // The text with the names that a reader sees.
  std::string renamed(std::string text) const {
    sb::replace_all(text, home().string(), "/home/ann");
    for (const fs::path& bin : {programs_, root_ / "bin"}) sb::replace_all(text, bin.string(), "/usr/local/bin");
    // Only where a user is named: "root" is also an ordinary word.
    for (const std::string_view around : {"({})", "\"{}\"", " by {}"}) {
      sb::replace_all(text, fmt::format(fmt::runtime(around), user_), fmt::format(fmt::runtime(around), "ann"));
    }
    return text;
  }

 private:
  fs::path programs_, root_;
  std::string user_;
};

class Check {
 public:
  Check(const Place& place, std::string name) : place_(place), name_(std::move(name)) {}

  // Whether it printed what the file says; `lines` is what the file should say.
  bool run(const Example& example, Lines& lines) {
    const auto command = sb::readme::with_ids_of_run(example.command, ids_);
    if (!command) {
      fmt::print("{}:{}: $ {}\n  uses an id that no output above it shows\n", name_, example.line, example.command);
      lines = example.output;
      return false;
    }
    const Lines answers = sb::readme::answers_in(example.output);
    const std::string printed = place_.renamed(output_of(*command, answers));
    // What a command sets holds for the commands below it.
    if (command->starts_with("export ") || command->starts_with("cd ")) settings_ += *command + "\n";
    Lines shown = sb::readme::screen_of(printed);
    // A warning that depends on the machine; most containers have no sandbox.
    std::erase_if(shown, [](const std::string& line) { return line.starts_with("! no sandbox"); });
    const std::vector<Row> rows = sb::readme::align(example.output, shown);
    sb::readme::learn_ids(rows, ids_);
    lines = sb::readme::updated(rows, ids_);
    const bool is_same = report(example, rows);
    if (sb::readme::answers_in(lines) != answers) {  // it asks other questions now: a person must choose the answers
      fmt::print("  the answers no longer fit; change them by hand\n");
      lines = example.output;
    }
    return is_same;
  }

 private:
  std::string output_of(const std::string& line, const Lines& answers) const {
    sb::Command command;
    if (!answers.empty()) {
      command.argv = {(fs::read_symlink("/proc/self/exe").parent_path() / "terminal").string()};
      for (const std::string& answer : answers) {
        for (const std::string& word : {std::string("wait"), std::string("\n> "), std::string("type"), answer + "\n"})
          command.argv.push_back(word);
      }
      command.argv.push_back("--");
    }
    for (const std::string& word : {std::string("sh"), std::string("-c"), settings_ + line})
      command.argv.push_back(word);
    command.directory = place_.home().string();
    command.environment = place_.environment();
    command.timeout_ms = kCommandMs;
    command.merge_stderr = true;
    const auto result = sb::SystemProcess().run(command);
    if (!result) return result.error().to_string();
    return result->output + (result->timed_out ? "\n(did not end in time)\n" : "");
  }

  bool report(const Example& example, const std::vector<Row>& rows) const {
    bool is_same = true;
    for (const Row& row : rows) {
      if (row.kind == Row::kEqual || row.kind == Row::kAnyLines) continue;
      if (is_same) fmt::print("{}:{}: $ {}\n", name_, example.line, example.command);
      is_same = false;
      if (row.kind != Row::kExtra) fmt::print("  expected: {}\n", row.expected);
      if (row.kind != Row::kMissing) fmt::print("  printed:  {}\n", row.printed);
    }
    return is_same;
  }

  const Place& place_;
  std::string name_, settings_;
  sb::readme::Ids ids_;
};

// The exit code.
int check(const fs::path& programs, const fs::path& path, bool is_update) {
  const auto text = sb::SystemFiles().read(path.string(), kFileBytes);
  if (!text) throw std::runtime_error(text.error().to_string());
  Lines file;
  for (const std::string_view line : sb::lines_of(*text)) file.emplace_back(line);
  const std::vector<Example> examples = sb::readme::read_examples(file);
  if (examples.empty()) throw std::runtime_error(fmt::format("{}: there is no transcript", path.string()));

  const Place place(programs, fs::absolute(path).parent_path() / "examples");
  Check check(place, path.filename().string());
  std::vector<Lines> outputs(examples.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) different += check.run(examples[i], outputs[i]) ? 0 : 1;
  fmt::print("{} commands, {} with another output\n", examples.size(), different);
  if (different == 0 || !is_update) return different == 0 ? 0 : 1;

  for (std::size_t i = examples.size(); i-- > 0;) {  // from the end, so that line numbers above stay right
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(examples[i].first);
    const auto end = begin + static_cast<std::ptrdiff_t>(examples[i].output.size());
    file.insert(file.erase(begin, end), outputs[i].begin(), outputs[i].end());
  }
  std::ofstream out(path);
  for (const std::string& line : file) out << line << '\n';
  fmt::print("{} is updated; read the difference before you commit it\n", path.string());
  return out.flush() ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_update = !words.empty() && words[0] == "--update";
  if (words.size() != (is_update ? 3 : 2)) {
    fmt::print(stderr, "usage: readme_check [--update] PROGRAMS FILE\n");
    return 2;
  }
  try {
    return check(words[words.size() - 2], words.back(), is_update);
  } catch (const std::exception& error) {
    fmt::print(stderr, "readme_check: {}\n", error.what());
    return 2;
  }
}
