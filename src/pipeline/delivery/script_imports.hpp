// Which files of its repository a script imports: Python, JavaScript and TypeScript, Ruby. Pure. Internal to this
// folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::pipeline {

// Every path that an import may mean, relative to the script's folder, whether or not it exists: `import rules` in
// ci/check.py gives ci/rules.py and ci/rules/__init__.py. `path` decides the language; none for others.
std::vector<std::string> imports_of(std::string_view path, std::string_view text);

}  // namespace sb::pipeline
