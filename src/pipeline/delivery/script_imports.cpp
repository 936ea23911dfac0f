#include "pipeline/delivery/script_imports.hpp"

#include <algorithm>
#include <array>

#include "pipeline/delivery/judge_paths.hpp"

namespace sb::pipeline {
namespace {

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

class Imports {
 public:
  explicit Imports(std::string_view path) : folder_(folder_of(path)) {}

  // `import a.b, c as d`, `from a import b`, `from . import b`
  void python(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("import ")) {
      for (const std::string_view each : split(line.substr(7), ',')) {
        module(trimmed(trimmed(each).substr(0, trimmed(each).find(' '))));
      }
    }
    if (!line.starts_with("from ")) return;
    line.remove_prefix(5);
    const std::size_t at = line.find(" import ");
    if (at == line.npos) return;
    std::string_view from = trimmed(line.substr(0, at));
    while (from.starts_with('.')) from.remove_prefix(1);  // a parent's modules are not in the script's folder
    if (!from.empty()) module(from);
    for (const std::string_view each : split(line.substr(at + 8), ',')) {
      const std::string_view name = trimmed(each, " \t()\\");
      const std::string_view first = name.substr(0, name.find(' '));
      module(from.empty() ? std::string(first) : std::string(from) + "." + std::string(first));
    }
  }

  // Every quoted relative path on a line that imports: `require("./a")`, `import x from './a.js'`
  void quoted(std::string_view line, std::initializer_list<std::string_view> words,
              std::initializer_list<std::string_view> ends) {
    const bool is_import =
        std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != line.npos; });
    if (!is_import) return;
    for (std::size_t at = line.find_first_of("\"'`"); at != line.npos;) {
      const std::size_t end = line.find(line[at], at + 1);
      if (end == line.npos) return;
      const std::string_view name = line.substr(at + 1, end - at - 1);
      for (const std::string_view tail : ends) add(std::string(name) + std::string(tail));
      at = line.find_first_of("\"'`", end + 1);
    }
  }

  std::vector<std::string> take() {
    std::ranges::sort(found_);
    const auto rest = std::ranges::unique(found_);
    found_.erase(rest.begin(), rest.end());
    return std::move(found_);
  }

 private:
  void module(std::string_view name) {
    std::string path(name);
    std::ranges::replace(path, '.', '/');
    if (path.empty() || path.ends_with('*')) return;
    for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
      add(path.substr(0, at) + "/__init__.py");
    add(path + ".py");
    add(path + "/__init__.py");
  }

  void add(const std::string& name) {
    if (std::string path = path_named(name, folder_); !path.empty()) found_.push_back(std::move(path));
  }

  std::string folder_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> imports_of(std::string_view path, std::string_view text) {
  Imports imports(path);
  const bool is_python = path.ends_with(".py") || text.substr(0, text.find('\n')).find("python") != text.npos;
  const bool is_node = ends_with_any(path, {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}) ||
                       text.substr(0, text.find('\n')).find("node") != text.npos;
  for (const std::string_view line : lines_of(text)) {
    if (is_python) imports.python(line);
    if (is_node) {
      imports.quoted(line, {"require", "import", "from"},
                     {"", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts"});
    }
    if (path.ends_with(".rb")) imports.quoted(line, {"require_relative", "load"}, {"", ".rb"});
  }
  return imports.take();
}

}  // namespace sb::pipeline
