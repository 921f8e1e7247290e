# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Script: writes OUTPUT, a list of `{"name", R"(text)"},` lines, one for each of
# FILES (names are relative to BASE). Run as
#   cmake -DOUTPUT=... -DBASE=... -DFILES="a;b" -P EmbedText.cmake
set(content "")
foreach(path IN LISTS FILES)
  file(READ ${path} text)
  file(RELATIVE_PATH name ${BASE} ${path})
  string(APPEND content "{\"${name}\", R\"winnow_text(${text})winnow_text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${content}")
