# embed_lua(TARGET MODULE FILE ...): compiles Lua files into TARGET as `embedded_modules` (script/embedded.h), a table of module name, chunk
# name and text. They are kept as text, so that tracebacks have the lines of the files in lua/.
set(EMBED_LUA_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
function(embed_lua target)
  set(pairs ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded.c)
  set(files)
  list(LENGTH pairs count)
  math(EXPR last "${count} - 1")
  foreach(i RANGE 1 ${last} 2)
    list(GET pairs ${i} file)
    list(APPEND files ${file})
  endforeach()
  string(REPLACE ";" "|" joined "${pairs}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DPAIRS=${joined}" -DROOT=${PROJECT_SOURCE_DIR} -P ${EMBED_LUA_SCRIPT}
    DEPENDS ${files} ${EMBED_LUA_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
