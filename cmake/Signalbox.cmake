# sb_batches(OUT TARGET SOURCE...): with SIGNALBOX_UNITY, a file for each folder that includes the folder's sources, so
# that its headers are read once; else the sources. Names in anonymous namespaces must differ within a folder. CMake's
# own unity files name sources by absolute paths: no clone could use what ccache keeps of another.
function(sb_batches out target)
  if(NOT SIGNALBOX_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(files "")
  set(batches "")
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/src ${source})
    if(path MATCHES "^[.][.]")  # generated
      list(APPEND files ${source})
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    string(REPLACE "/" "_" batch ${folder})
    list(APPEND batches ${batch})
    string(APPEND includes_${batch} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    set(file ${CMAKE_BINARY_DIR}/batches/${target}/${batch}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes_${batch}}" @ONLY)
    list(APPEND files ${file})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# sb_precompiled(TARGET OWNER HEADER): with SIGNALBOX_UNITY, TARGET uses the header, which is compiled once, in OWNER.
function(sb_precompiled target owner header)
  if(NOT SIGNALBOX_UNITY)
    return()
  endif()
  if(target STREQUAL owner)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
    target_precompile_headers(${target} PRIVATE <${header}>)
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# sb_tests(TARGET): links TARGET with GoogleTest. Tests are compiled without optimisation (the code they test is
# optimised), because they are compiled more often than they run.
function(sb_tests target)
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest_main)
  target_compile_options(${target} PRIVATE -O0)
  if(SIGNALBOX_UNITY)
    target_precompile_headers(${target} REUSE_FROM sb_tests_precompiled)
  endif()
endfunction()

# sb_embed(OUT NAMESPACE WHAT): generates a C++ file with every file below the folder WHAT, or with the files of one
# folder if WHAT is a pattern (docs/*.md), available through sb::NAMESPACE::data_file("file"), YAML as JSON;
# data_names() lists them. OUT is empty if there are none.
function(sb_embed out namespace what)
  set(folder ${what})
  if(what MATCHES "[*]")
    file(GLOB data ${CMAKE_SOURCE_DIR}/${what})
    get_filename_component(folder ${what} DIRECTORY)
  else()
    file(GLOB_RECURSE data ${CMAKE_SOURCE_DIR}/${what}/*)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(data)
    string(REPLACE "::" "_" file ${namespace})
    set(embedded ${CMAKE_BINARY_DIR}/generated/${file}_data.cpp)
    add_custom_command(
      OUTPUT ${embedded}
      COMMAND embed_data ${namespace} ${CMAKE_SOURCE_DIR}/${folder} ${embedded} ${data}
      DEPENDS ${data} embed_data
      VERBATIM)
    set(${out} ${embedded} PARENT_SCOPE)
  endif()
endfunction()

# Files are listed when CMake configures, which scripts/build always does: run cmake again after adding one.
# sb_library(NAME USES folder... LINK target... DATA what): the folder src/NAME as a library, its *_test.cpp files as
# one test program, every file below src/NAME/data embedded as sb::NAME, and those that DATA names as
# sb::NAME::bundled.
# The files in folders called testing are the library sb_NAME_testing, which only tests link; it brings sb_NAME and what
# the libraries that sb_NAME uses have for tests.
function(sb_library name)
  cmake_parse_arguments(ARG "" "DATA" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  set(testing ${sources})
  list(FILTER testing INCLUDE REGEX "/testing/")
  list(FILTER sources EXCLUDE REGEX "/testing/")

  sb_embed(embedded ${name} src/${name}/data)
  list(APPEND sources ${embedded})
  if(ARG_DATA)
    sb_embed(embedded ${name}::bundled ${ARG_DATA})
    list(APPEND sources ${embedded})
  endif()

  list(TRANSFORM ARG_USES PREPEND sb_)
  list(TRANSFORM ARG_USES APPEND _testing OUTPUT_VARIABLE testing_uses)
  if(sources)
    sb_batches(files sb_${name} ${sources})
    add_library(sb_${name} STATIC ${files})
    target_include_directories(sb_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(sb_${name} PUBLIC ${ARG_USES} ${ARG_LINK})
    target_compile_definitions(sb_${name} PRIVATE SIGNALBOX_VERSION="${PROJECT_VERSION}")
    sb_precompiled(sb_${name} sb_base precompiled.hpp)
  else()
    add_library(sb_${name} INTERFACE)
    target_link_libraries(sb_${name} INTERFACE ${ARG_USES} ${ARG_LINK})
  endif()

  if(testing)
    sb_batches(files sb_${name}_testing ${testing})
    add_library(sb_${name}_testing STATIC EXCLUDE_FROM_ALL ${files})
    target_link_libraries(sb_${name}_testing PUBLIC sb_${name} ${testing_uses})
    target_compile_definitions(sb_${name}_testing PRIVATE SIGNALBOX_VERSION="${PROJECT_VERSION}")
    sb_precompiled(sb_${name}_testing sb_base precompiled.hpp)
  else()
    add_library(sb_${name}_testing INTERFACE)
    target_link_libraries(sb_${name}_testing INTERFACE sb_${name} ${testing_uses})
  endif()

  if(GTest_FOUND AND tests)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE sb_${name}_testing)
    target_compile_definitions(test_${name} PRIVATE SB_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    sb_tests(test_${name})
    add_test(NAME unit.${name} COMMAND test_${name} --gtest_brief=1)
  endif()
endfunction()

# sb_archive(NAME shared archive...): the library sb_NAME. Release programs are linked with the archives, if all of them
# exist; everything else with the shared target, which also provides the compile options.
function(sb_archive name shared)
  set(archives "")
  foreach(file IN LISTS ARGN)
    if(TARGET ${file})
      list(APPEND archives ${file})
    else()
      find_library(SB_ARCHIVE_${file} NAMES ${file} NO_CACHE)
      list(APPEND archives ${SB_ARCHIVE_${file}})
    endif()
  endforeach()
  add_library(sb_${name} INTERFACE)
  target_include_directories(sb_${name} SYSTEM INTERFACE $<TARGET_PROPERTY:${shared},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(sb_${name} INTERFACE $<TARGET_PROPERTY:${shared},INTERFACE_COMPILE_DEFINITIONS>)
  if("${archives}" MATCHES "NOTFOUND" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR SIGNALBOX_SANITIZE)
    target_link_libraries(sb_${name} INTERFACE ${shared})
    return()
  endif()
  set(is_program $<BOOL:$<TARGET_PROPERTY:SB_ARCHIVES>>)
  target_link_libraries(sb_${name} INTERFACE "$<IF:${is_program},${archives},${shared}>")
endfunction()

function(sb_program name main)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  list(TRANSFORM ARG_USES PREPEND sb_)
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${ARG_USES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} SB_ARCHIVES ON)
  target_link_options(${name} PRIVATE -Wl,-O1,--as-needed,--hash-style=gnu
    $<$<CONFIG:Release>:-Wl,--gc-sections,--strip-all>)
  target_compile_definitions(${name} PRIVATE SIGNALBOX_VERSION="${PROJECT_VERSION}")
endfunction()
