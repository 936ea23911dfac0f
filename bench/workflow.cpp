// Loading, checking and compiling workflows: the target is over 10,000 files of 20 KB per second on one core once warm.
//
// `files/s` of `whole` is that figure; the others are its parts. `bundled` and `compat` (if that folder exists) are
// used as they are, `synthetic` are files of 20 KB that use most of the format.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "workflow/compile/builtin_texts.hpp"
#include "workflow/compile/compile.hpp"
#include "workflow/data.hpp"

namespace sb::workflow {
namespace {

struct File {
  std::string name, text;
};

// All bundled definitions around what is compiled; routines under their template names.
class BundledSurroundings : public ReferenceResolver {
 public:
  BundledSurroundings() {
    for (const std::string_view name : bundled::data_names()) {
      if (name.starts_with("contracts/")) continue;
      const auto document = parse_document(std::string(name), std::string(bundled::data_file(name)));
      auto definition = document ? read_definition(*document) : std::unexpected(Faults{});
      if (!definition) continue;
      const std::string id = definition->id;
      if (name.starts_with("routines/")) routines_["wr.templates.routine." + id.substr(id.find("routine-") + 8)] = id;
      workflows_.emplace(id, std::move(*definition));
    }
  }
  const Contract* contract(std::string_view ref) const override { return Contracts::bundled().find(ref); }
  std::vector<std::string> contract_refs() const override { return Contracts::bundled().refs(); }
  const Definition* routine(std::string_view id) const override {
    const auto found = routines_.find(id);
    return found == routines_.end() ? nullptr : workflow(found->second);
  }
  std::vector<std::string> template_ids() const override { return {}; }
  const Definition* workflow(std::string_view id) const override {
    const auto found = workflows_.find(id);
    return found == workflows_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> workflow_ids() const override { return {}; }
  const Value* feature(std::string_view id) const override {
    const auto found = builtin_features().find(id);
    return found == builtin_features().end() ? nullptr : &found->second;
  }
  std::vector<std::string> feature_ids() const override { return {}; }
  const std::string* ref(std::string_view id) const override {
    const auto found = builtin_refs().find(id);
    return found == builtin_refs().end() ? nullptr : &found->second;
  }
  std::vector<std::string> ref_ids() const override { return {}; }
  const std::string* binding(std::string_view, std::string_view) const override { return nullptr; }

 private:
  std::map<std::string, Definition, std::less<>> workflows_;
  std::map<std::string, std::string, std::less<>> routines_;
};

std::vector<File> bundled_files() {
  std::vector<File> files;
  for (const std::string_view name : bundled::data_names()) {
    if (!name.starts_with("contracts/")) files.push_back({std::string(name), std::string(bundled::data_file(name))});
  }
  return files;
}

std::vector<File> compat_files() {
  std::vector<File> files;
  const char* named = std::getenv("SIGNALBOX_COMPAT");
  const std::filesystem::path folder = named ? named : SB_SOURCE_DIR "/../shared/compat";
  if (!std::filesystem::is_directory(folder / "workflows")) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "workflows")) {
    if (entry.path().extension() != ".json") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    files.push_back({entry.path().filename(), text.str()});
  }
  return files;
}

// Twenty steps: half of them in blocks, with conditions, guidance, a contract and a gate.
std::vector<File> synthetic_files() {
  std::string sentence = "Look at what the step before has left behind and say what of it holds. ";
  std::string prompt;
  while (prompt.size() < 600) prompt += sentence;
  Value steps = Value::array();
  for (int i = 0; i < 20; ++i) {
    Value step = Value::object({{"id", fmt::format("step-{}", i)}, {"title", fmt::format("Step {}", i)}});
    if (i % 2 == 0) {
      step.set("prompt", prompt);
    } else {
      step.set("promptBlocks", Value::object({{"goal", Value(prompt)},
                                              {"constraints", Value::array({"Short.", "No code."})},
                                              {"procedure", Value::array({"Read.", "Compare.", "Write."})},
                                              {"verify", Value::array({"It fits."})}}));
    }
    step.set("agentRole", "A careful reader of other people's code.");
    step.set("guidance", Value::array({"One thing at a time.", "Name your sources."}));
    step.set("runCondition",
             Value::object({{"and", Value(Value::Array{Value::object({{"var", "mode"}, {"not_equals", "QUICK"}}),
                                                       Value::object({{"var", "size"}, {"gt", i}})})}}));
    if (i == 19) step.set("outputContract", Value::object({{"contractRef", "wr.contracts.coding_handoff"}}));
    if (i == 10) step.set("requireConfirmation", true);
    steps.push_back(std::move(step));
  }
  Value workflow = Value::object({{"id", "bench-flow"},
                                  {"name", "Bench"},
                                  {"description", "For the bench."},
                                  {"version", "1.0.0"},
                                  {"features", Value::array({"wr.features.capabilities"})}});
  workflow.set("steps", std::move(steps));
  return {{"synthetic.json", to_pretty_json(workflow)}};
}

enum class Part { kParse, kRead, kCompile, kWhole, kCanonical };

// Whether everything succeeded, so that a broken file is not mistaken for a fast one.
bool run(const File& file, Part part, Compiler& compiler, const Document& document, const Definition& definition,
         const Bundle& bundle) {
  switch (part) {
    case Part::kParse:
      return parse_document(file.name, file.text).has_value();
    case Part::kRead:
      return read_definition(document).has_value();
    case Part::kCompile:
      return compiler.compile(document, definition).has_value();
    case Part::kCanonical:
      return !sha256_hex(to_canonical_json(bundle.back()->pinned)).empty();
    case Part::kWhole: {
      const auto parsed = parse_document(file.name, file.text);
      const auto read = parsed ? read_definition(*parsed) : std::unexpected(Faults{});
      return read && compiler.compile(*parsed, *read).has_value();
    }
  }
  return false;
}

void part_of(benchmark::State& state, std::vector<File> (*files_of)(), Part part) {
  static const BundledSurroundings resolver;
  Compiler compiler(resolver);
  struct Loaded {
    File file;
    Document document;
    Definition definition;
    Bundle bundle;
  };
  std::vector<Loaded> loaded;
  double bytes = 0;
  for (File& file : files_of()) {
    auto document = parse_document(file.name, file.text);
    auto definition = document ? read_definition(*document) : std::unexpected(Faults{});
    auto bundle = definition ? compiler.compile(*document, *definition) : std::unexpected(definition.error());
    if (!bundle) {
      fmt::print(stderr, "{}: {}\n", file.name, bundle.error().empty() ? "" : bundle.error().front().to_string());
      continue;
    }
    bytes += static_cast<double>(file.text.size());
    loaded.push_back({std::move(file), std::move(*document), std::move(*definition), std::move(*bundle)});
  }
  if (loaded.empty()) return state.SkipWithError("no files");
  std::size_t at = 0;
  for (auto _ : state) {
    const Loaded& each = loaded[at++ % loaded.size()];
    if (!run(each.file, part, compiler, each.document, each.definition, each.bundle)) {
      return state.SkipWithError(each.file.name.c_str());
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["files/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["KB/file"] = bytes / 1024 / static_cast<double>(loaded.size());
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

#define SB_PARTS(files)                                                           \
  BENCHMARK_CAPTURE(part_of, files##_parse, files##_files, Part::kParse);         \
  BENCHMARK_CAPTURE(part_of, files##_read, files##_files, Part::kRead);           \
  BENCHMARK_CAPTURE(part_of, files##_compile, files##_files, Part::kCompile);     \
  BENCHMARK_CAPTURE(part_of, files##_canonical, files##_files, Part::kCanonical); \
  BENCHMARK_CAPTURE(part_of, files##_whole, files##_files, Part::kWhole)
SB_PARTS(synthetic);
SB_PARTS(bundled);
SB_PARTS(compat);

}  // namespace
}  // namespace sb::workflow
