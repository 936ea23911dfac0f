#include "net/curl_library.hpp"

#include <dlfcn.h>

#include <optional>

namespace sb::net {

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<CurlLibrary> load() {
  void* library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::nullopt;
  CurlLibrary curl = {};
  decltype(&curl_global_init) global_init = nullptr;
  const bool has_all =
      find(library, "curl_global_init", global_init) && find(library, "curl_easy_init", curl.easy_init) &&
      find(library, "curl_easy_setopt", curl.easy_setopt) && find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
      find(library, "curl_easy_reset", curl.easy_reset) && find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
      find(library, "curl_easy_strerror", curl.easy_strerror) &&
      find(library, "curl_slist_append", curl.slist_append) &&
      find(library, "curl_slist_free_all", curl.slist_free_all) && find(library, "curl_multi_init", curl.multi_init) &&
      find(library, "curl_multi_add_handle", curl.multi_add_handle) &&
      find(library, "curl_multi_remove_handle", curl.multi_remove_handle) &&
      find(library, "curl_multi_perform", curl.multi_perform) && find(library, "curl_multi_poll", curl.multi_poll) &&
      find(library, "curl_multi_info_read", curl.multi_info_read) &&
      find(library, "curl_multi_cleanup", curl.multi_cleanup);
  if (!has_all || global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return std::nullopt;
  return curl;
}

}  // namespace

const CurlLibrary* curl_library() {
  // A library is loaded for the whole process, so the handle belongs to the process and not to a client.
  static const std::optional<CurlLibrary> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace sb::net
