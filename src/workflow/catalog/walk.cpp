#include "workflow/catalog/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/limits.hpp"

namespace sb::workflow {
namespace {

// Built or downloaded files: large, and not a place for workflows.
constexpr std::array<std::string_view, 9> kSkipped = {
    "node_modules", "bower_components", "__pycache__", "build", "dist", "target", "vendor", "venv", "examples"};

bool is_skipped(std::string_view folder) {
  return folder.starts_with(".") || std::ranges::find(kSkipped, folder) != kSkipped.end();
}

class Walking {
 public:
  Walking(const Files& files, const std::string& root, const std::function<void(int)>& on_file)
      : files_(files), root_(root), on_file_(on_file) {}

  SourceScan run() && {
    const FileStatus status = files_.status(root_);
    if (status.kind == FileKind::kFile) {
      walk_.files.push_back({root_, status, role_of(base_name(parent_path(root_)), FileRole::kWorkflow), false});
    } else if (status.kind == FileKind::kDirectory) {
      enter({root_, role_of(base_name(root_), FileRole::kWorkflow), false, 0});
    } else {
      note(ErrorCode::kInvalid, "neither a file nor a folder", "", root_);
    }
    return std::move(walk_);
  }

 private:
  struct Folder {
    std::string path;
    FileRole role = FileRole::kWorkflow;
    bool is_internal = false;
    int depth = 0;
  };

  static FileRole role_of(std::string_view folder, FileRole outer) {
    if (folder == "routines") return FileRole::kRoutine;
    if (folder == "contracts") return FileRole::kContract;
    if (folder == "features") return FileRole::kFeature;
    return outer;
  }

  void note(ErrorCode code, std::string message, std::string remedy, const std::string& path) {
    walk_.notes.push_back({code, std::move(message), std::move(remedy), {path, "", 0, 0}, false});
  }

  void stop(std::string why) {
    if (walk_.stopped.empty()) walk_.stopped = std::move(why);
  }

  // The target of a link, if it is below the root and was not seen yet.
  std::optional<std::string> follow(const std::string& path, FileKind kind) {
    const auto real = files_.canonical(path);
    if (!real || kind == FileKind::kMissing) {
      note(ErrorCode::kNotFound, "the link is broken", "Fix or remove it", path);
      return std::nullopt;
    }
    if (!is_within(*real, root_)) {
      note(ErrorCode::kForbidden, fmt::format("the link points outside {} and is not followed", root_),
           "Put the file itself there, or name its folder as a source", path);
      return std::nullopt;
    }
    return *real;
  }

  void look_at(const Folder& folder, const std::string& name, std::vector<Folder>& below) {
    std::string path = join_path(folder.path, name);
    FileStatus status = files_.status(path);
    const bool may_matter = status.kind == FileKind::kDirectory ? !is_skipped(name) : is_source_name(name);
    if (!may_matter) return;
    if (status.is_link) {
      auto real = follow(path, status.kind);
      if (!real) return;
      path = std::move(*real);
      status.is_link = false;
    }
    if (status.kind == FileKind::kDirectory) {
      below.push_back({path, role_of(name, folder.role), folder.is_internal || name == "internal", folder.depth + 1});
    }
    if (status.kind != FileKind::kFile || !seen_.insert(path).second) return;
    if (walk_.files.size() >= limits::kSourceFiles) {
      return stop(fmt::format("more than {} workflow files", limits::kSourceFiles));
    }
    walk_.files.push_back({path, status, folder.role, folder.is_internal});
  }

  void enter(const Folder& folder) {
    if (!seen_.insert(folder.path).second) return;
    if (folder.depth > limits::kSourceDepth) {
      return stop(fmt::format("{} is more than {} folders deep", folder.path, limits::kSourceDepth));
    }
    const auto names = files_.list(folder.path);
    if (!names) {
      const bool is_folders = names.error().code != ErrorCode::kUnavailable;
      return note(names.error().code, names.error().message,
                  is_folders ? "Make the folder readable" : names.error().remedy, folder.path);
    }
    std::vector<Folder> below;
    for (const std::string& name : *names) {
      if (entries_++ >= limits::kSourceEntries) {
        return stop(fmt::format("more than {} files and folders", limits::kSourceEntries));
      }
      look_at(folder, name, below);
      if (on_file_ && entries_ % 64 == 0) on_file_(static_cast<int>(entries_));
    }
    for (const Folder& next : below) {
      if (entries_ >= limits::kSourceEntries || walk_.files.size() >= limits::kSourceFiles) break;
      enter(next);
    }
  }

  const Files& files_;
  const std::string& root_;
  const std::function<void(int)>& on_file_;
  std::set<std::string> seen_;
  std::size_t entries_ = 0;
  SourceScan walk_;
};

}  // namespace

bool is_source_name(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
}

SourceScan walk_source(const Files& files, const std::string& folder, const std::function<void(int)>& on_file) {
  return Walking(files, folder, on_file).run();
}

}  // namespace sb::workflow
