# charts_module(RESULT): bundles lua/charts into a Lua module, luabench.report.html.charts, where its npm packages are installed; elsewhere the module is an empty text, and HTML reports
# have tables alone.
function(charts_module result)
  set(folder ${PROJECT_SOURCE_DIR}/lua/charts)
  set(output ${CMAKE_BINARY_DIR}/charts.lua)
  find_program(NODE node)
  if(NODE AND EXISTS ${folder}/node_modules/esbuild AND EXISTS ${folder}/node_modules/echarts)
    add_custom_command(OUTPUT ${output} COMMAND ${NODE} ${folder}/build.mjs ${output} DEPENDS ${folder}/build.mjs ${folder}/charts.js ${folder}/package-lock.json VERBATIM)
  else()
    message(STATUS "HTML reports are built without charts; (cd lua/charts && npm ci) and a new build add them")
    file(CONFIGURE OUTPUT ${output} CONTENT "return ''\n")
  endif()
  set(${result} luabench.report.html.charts ${output} PARENT_SCOPE)
endfunction()
