# SB_ICU_DATA: a library with the part of ICU's data that base/text/unicode.cpp reads, or with all of it
# where ICU's tools are missing.
# All of ICU's data is 31 MB, which each program would carry.
#
# Character properties and NFC are in ICU's code. Normalization to NFKC and NFKD and the properties of emoji are data.
set(needed nfkc.nrm uemoji.icu)

set(SB_ICU_DATA libicudata.a)
find_library(SB_ICU_ARCHIVE NAMES libicudata.a NO_CACHE)
find_program(ICUPKG icupkg PATHS /usr/sbin)
if(NOT SB_ICU_ARCHIVE OR NOT ICUPKG)
  return()
endif()

string(REGEX MATCH "^[0-9]+" icu_major "${ICU_VERSION}")
set(folder ${CMAKE_BINARY_DIR}/icu)
set(data ${folder}/icudt${icu_major}l.dat)
string(REPLACE ";" "\n" list "${needed}")
file(WRITE ${folder}/needed.txt "${list}\n")
list(TRANSFORM needed PREPEND -x OUTPUT_VARIABLE extract)
add_custom_command(
  OUTPUT ${data}
  WORKING_DIRECTORY ${folder}
  COMMAND ${CMAKE_AR} x ${SB_ICU_ARCHIVE}
  COMMAND ${CMAKE_OBJCOPY} -O binary -j .rodata icudt${icu_major}l_dat.o all/icudt${icu_major}l.dat
  COMMAND ${ICUPKG} -x ${folder}/needed.txt -d ${folder}/parts all/icudt${icu_major}l.dat
  COMMAND ${ICUPKG} -s ${folder}/parts -a ${folder}/needed.txt new ${data}
  DEPENDS ${SB_ICU_ARCHIVE} ${folder}/needed.txt
  COMMENT "Selecting ICU data"
  VERBATIM)
file(MAKE_DIRECTORY ${folder}/all ${folder}/parts)
# Assembler, which the compiler cache leaves alone: it does not look into what .incbin names.
enable_language(ASM)
file(CONFIGURE OUTPUT ${folder}/data.S CONTENT [[
  .section .rodata
  .balign 16
  .globl icudt@icu_major@_dat
  .type icudt@icu_major@_dat, @object
icudt@icu_major@_dat:
  .incbin "@data@"
  .size icudt@icu_major@_dat, . - icudt@icu_major@_dat
  .section .note.GNU-stack, "", @progbits
]] @ONLY)
set_source_files_properties(${folder}/data.S PROPERTIES OBJECT_DEPENDS ${data})
add_library(sb_icu_data STATIC ${folder}/data.S)
set(SB_ICU_DATA sb_icu_data)
