# Every Lua file that is embedded in the binary, as pairs: the name for require, the file.
set(LUABENCH_LUA_MODULES
  luabench.finish ${CMAKE_CURRENT_LIST_DIR}/luabench/finish.lua
  luabench.format ${CMAKE_CURRENT_LIST_DIR}/luabench/format.lua
  luabench.live ${CMAKE_CURRENT_LIST_DIR}/luabench/live.lua
  luabench.outputs ${CMAKE_CURRENT_LIST_DIR}/luabench/outputs.lua
  luabench.report.layout ${CMAKE_CURRENT_LIST_DIR}/luabench/report/layout.lua
  luabench.report.remarks ${CMAKE_CURRENT_LIST_DIR}/luabench/report/remarks.lua
  luabench.report.tables ${CMAKE_CURRENT_LIST_DIR}/luabench/report/tables.lua
  luabench.report.text ${CMAKE_CURRENT_LIST_DIR}/luabench/report/text.lua
  luabench.results ${CMAKE_CURRENT_LIST_DIR}/luabench/results.lua
  luabench.summary ${CMAKE_CURRENT_LIST_DIR}/luabench/summary.lua
  luabench.terminal ${CMAKE_CURRENT_LIST_DIR}/luabench/terminal.lua
  luabench.thresholds ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds.lua
  luabench.thresholds.metrics ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds/metrics.lua
  luabench.thresholds.parser ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds/parser.lua
)
