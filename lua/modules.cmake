# Modules whose functions run for every request stay text: bytecode loses the keys of table constructors whose values are not constant, and each response made
# by undumped code then grows its table key by key, at 3,000 instructions a request.
set(LUABENCH_LUA_TEXT
  luabench.auth luabench.body luabench.call luabench.cookies luabench.file luabench.headers luabench.http luabench.json luabench.metric luabench.multipart
  luabench.quick luabench.quick.template luabench.random luabench.request luabench.response luabench.site luabench.text luabench.url luabench.user luabench.vu
  luabench.report.html.charts luabench.wrk.api luabench.wrk.env luabench.wrk.script luabench.wrk.sender luabench.wrk.thread)

# The schema of results as a Lua module, which returns its text: saved results are checked against it.
set(LUABENCH_RESULT_SCHEMA ${CMAKE_BINARY_DIR}/result_schema.lua)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/result.schema.json)
file(READ ${PROJECT_SOURCE_DIR}/docs/result.schema.json schema)
file(CONFIGURE OUTPUT ${LUABENCH_RESULT_SCHEMA} CONTENT "return [====[\n@schema@]====]\n" @ONLY)

# Every Lua file that is embedded in the binary, as pairs: the name for require, the file.
set(LUABENCH_LUA_MODULES
  argparse ${ARGPARSE_LUA}
  luabench.auth ${CMAKE_CURRENT_LIST_DIR}/luabench/auth.lua
  luabench.body ${CMAKE_CURRENT_LIST_DIR}/luabench/body.lua
  luabench.call ${CMAKE_CURRENT_LIST_DIR}/luabench/call.lua
  luabench.coroutines ${CMAKE_CURRENT_LIST_DIR}/luabench/coroutines.lua
  luabench.load ${CMAKE_CURRENT_LIST_DIR}/luabench/load.lua
  luabench.tasks ${CMAKE_CURRENT_LIST_DIR}/luabench/tasks.lua
  luabench.cli ${CMAKE_CURRENT_LIST_DIR}/luabench/cli.lua
  luabench.doctor ${CMAKE_CURRENT_LIST_DIR}/luabench/doctor.lua
  luabench.doctor.words ${CMAKE_CURRENT_LIST_DIR}/luabench/doctor/words.lua
  luabench.compare ${CMAKE_CURRENT_LIST_DIR}/luabench/compare.lua
  luabench.compare.choose ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/choose.lua
  luabench.compare.conductor ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/conductor.lua
  luabench.compare.document ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/document.lua
  luabench.compare.doubts ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/doubts.lua
  luabench.compare.figures ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/figures.lua
  luabench.compare.judge ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/judge.lua
  luabench.compare.report ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/report.lua
  luabench.compare.servers ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/servers.lua
  luabench.compare.slots ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/slots.lua
  luabench.compare.statistics ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/statistics.lua
  luabench.compare.targets ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/targets.lua
  luabench.compare.verdict ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/verdict.lua
  luabench.compare.words ${CMAKE_CURRENT_LIST_DIR}/luabench/compare/words.lua
  luabench.connection ${CMAKE_CURRENT_LIST_DIR}/luabench/connection.lua
  luabench.cookies ${CMAKE_CURRENT_LIST_DIR}/luabench/cookies.lua
  luabench.css ${CMAKE_CURRENT_LIST_DIR}/luabench/css.lua
  luabench.debugging ${CMAKE_CURRENT_LIST_DIR}/luabench/debugging.lua
  luabench.dryrun ${CMAKE_CURRENT_LIST_DIR}/luabench/dryrun.lua
  luabench.env ${CMAKE_CURRENT_LIST_DIR}/luabench/env.lua
  luabench.diff ${CMAKE_CURRENT_LIST_DIR}/luabench/diff.lua
  luabench.diff.compare ${CMAKE_CURRENT_LIST_DIR}/luabench/diff/compare.lua
  luabench.diff.intervals ${CMAKE_CURRENT_LIST_DIR}/luabench/diff/intervals.lua
  luabench.errors ${CMAKE_CURRENT_LIST_DIR}/luabench/errors.lua
  luabench.file ${CMAKE_CURRENT_LIST_DIR}/luabench/file.lua
  luabench.files ${CMAKE_CURRENT_LIST_DIR}/luabench/files.lua
  luabench.finish ${CMAKE_CURRENT_LIST_DIR}/luabench/finish.lua
  luabench.flags ${CMAKE_CURRENT_LIST_DIR}/luabench/flags.lua
  luabench.format ${CMAKE_CURRENT_LIST_DIR}/luabench/format.lua
  luabench.globals ${CMAKE_CURRENT_LIST_DIR}/luabench/globals.lua
  luabench.headers ${CMAKE_CURRENT_LIST_DIR}/luabench/headers.lua
  luabench.health ${CMAKE_CURRENT_LIST_DIR}/luabench/health.lua
  luabench.intervals ${CMAKE_CURRENT_LIST_DIR}/luabench/intervals.lua
  luabench.quality ${CMAKE_CURRENT_LIST_DIR}/luabench/quality.lua
  luabench.steady ${CMAKE_CURRENT_LIST_DIR}/luabench/steady.lua
  luabench.help ${CMAKE_CURRENT_LIST_DIR}/luabench/help.lua
  luabench.html ${CMAKE_CURRENT_LIST_DIR}/luabench/html.lua
  luabench.http ${CMAKE_CURRENT_LIST_DIR}/luabench/http.lua
  luabench.json ${CMAKE_CURRENT_LIST_DIR}/luabench/json.lua
  luabench.libraries ${CMAKE_CURRENT_LIST_DIR}/luabench/libraries.lua
  luabench.limits ${CMAKE_CURRENT_LIST_DIR}/luabench/limits.lua
  luabench.live ${CMAKE_CURRENT_LIST_DIR}/luabench/live.lua
  luabench.main ${CMAKE_CURRENT_LIST_DIR}/luabench/main.lua
  luabench.md5 ${CMAKE_CURRENT_LIST_DIR}/luabench/md5.lua
  luabench.manual ${CMAKE_CURRENT_LIST_DIR}/luabench/manual.lua
  luabench.manual.compare ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/compare.lua
  luabench.manual.globals ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/globals.lua
  luabench.manual.http ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/http.lua
  luabench.manual.lua ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/lua.lua
  luabench.manual.modules ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/modules.lua
  luabench.manual.objects ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/objects.lua
  luabench.manual.scenario ${CMAKE_CURRENT_LIST_DIR}/luabench/manual/scenario.lua
  luabench.metric ${CMAKE_CURRENT_LIST_DIR}/luabench/metric.lua
  luabench.modules ${CMAKE_CURRENT_LIST_DIR}/luabench/modules.lua
  luabench.multipart ${CMAKE_CURRENT_LIST_DIR}/luabench/multipart.lua
  luabench.nearest ${CMAKE_CURRENT_LIST_DIR}/luabench/nearest.lua
  luabench.moment ${CMAKE_CURRENT_LIST_DIR}/luabench/moment.lua
  luabench.new ${CMAKE_CURRENT_LIST_DIR}/luabench/new.lua
  luabench.options ${CMAKE_CURRENT_LIST_DIR}/luabench/options.lua
  luabench.output.csv ${CMAKE_CURRENT_LIST_DIR}/luabench/output/csv.lua
  luabench.output.formats ${CMAKE_CURRENT_LIST_DIR}/luabench/output/formats.lua
  luabench.output.hgrm ${CMAKE_CURRENT_LIST_DIR}/luabench/output/hgrm.lua
  luabench.output.hlog ${CMAKE_CURRENT_LIST_DIR}/luabench/output/hlog.lua
  luabench.output.json ${CMAKE_CURRENT_LIST_DIR}/luabench/output/json.lua
  luabench.output.junit ${CMAKE_CURRENT_LIST_DIR}/luabench/output/junit.lua
  luabench.output.html ${CMAKE_CURRENT_LIST_DIR}/luabench/output/html.lua
  luabench.outputs ${CMAKE_CURRENT_LIST_DIR}/luabench/outputs.lua
  luabench.params ${CMAKE_CURRENT_LIST_DIR}/luabench/params.lua
  luabench.permissions ${CMAKE_CURRENT_LIST_DIR}/luabench/permissions.lua
  luabench.plans ${CMAKE_CURRENT_LIST_DIR}/luabench/plans.lua
  luabench.plan ${CMAKE_CURRENT_LIST_DIR}/luabench/plan.lua
  luabench.quick ${CMAKE_CURRENT_LIST_DIR}/luabench/quick.lua
  luabench.quick.form ${CMAKE_CURRENT_LIST_DIR}/luabench/quick/form.lua
  luabench.quick.targets ${CMAKE_CURRENT_LIST_DIR}/luabench/quick/targets.lua
  luabench.quick.template ${CMAKE_CURRENT_LIST_DIR}/luabench/quick/template.lua
  luabench.report.connections ${CMAKE_CURRENT_LIST_DIR}/luabench/report/connections.lua
  luabench.prometheus ${CMAKE_CURRENT_LIST_DIR}/luabench/prometheus.lua
  luabench.random ${CMAKE_CURRENT_LIST_DIR}/luabench/random.lua
  luabench.reference ${CMAKE_CURRENT_LIST_DIR}/luabench/reference.lua
  luabench.report.hook ${CMAKE_CURRENT_LIST_DIR}/luabench/report/hook.lua
  luabench.report.html ${CMAKE_CURRENT_LIST_DIR}/luabench/report/html.lua
  luabench.report.html.compare ${CMAKE_CURRENT_LIST_DIR}/luabench/report/html/compare.lua
  luabench.report.html.page ${CMAKE_CURRENT_LIST_DIR}/luabench/report/html/page.lua
  luabench.report.html.parts ${CMAKE_CURRENT_LIST_DIR}/luabench/report/html/parts.lua
  luabench.report.html.run ${CMAKE_CURRENT_LIST_DIR}/luabench/report/html/run.lua
  luabench.report.layout ${CMAKE_CURRENT_LIST_DIR}/luabench/report/layout.lua
  luabench.report.own ${CMAKE_CURRENT_LIST_DIR}/luabench/report/own.lua
  luabench.report.remarks ${CMAKE_CURRENT_LIST_DIR}/luabench/report/remarks.lua
  luabench.report.tables ${CMAKE_CURRENT_LIST_DIR}/luabench/report/tables.lua
  luabench.report.load ${CMAKE_CURRENT_LIST_DIR}/luabench/report/load.lua
  luabench.report.text ${CMAKE_CURRENT_LIST_DIR}/luabench/report/text.lua
  luabench.report.wrk ${CMAKE_CURRENT_LIST_DIR}/luabench/report/wrk.lua
  luabench.request ${CMAKE_CURRENT_LIST_DIR}/luabench/request.lua
  luabench.response ${CMAKE_CURRENT_LIST_DIR}/luabench/response.lua
  luabench.results ${CMAKE_CURRENT_LIST_DIR}/luabench/results.lua
  luabench.sandbox ${CMAKE_CURRENT_LIST_DIR}/luabench/sandbox.lua
  luabench.result_schema ${LUABENCH_RESULT_SCHEMA}
  luabench.saved ${CMAKE_CURRENT_LIST_DIR}/luabench/saved.lua
  luabench.saved.commands ${CMAKE_CURRENT_LIST_DIR}/luabench/saved/commands.lua
  luabench.saved.figures ${CMAKE_CURRENT_LIST_DIR}/luabench/saved/figures.lua
  luabench.saved.merge ${CMAKE_CURRENT_LIST_DIR}/luabench/saved/merge.lua
  luabench.saved.times ${CMAKE_CURRENT_LIST_DIR}/luabench/saved/times.lua
  luabench.saved.validate ${CMAKE_CURRENT_LIST_DIR}/luabench/saved/validate.lua
  luabench.scenario ${CMAKE_CURRENT_LIST_DIR}/luabench/scenario.lua
  luabench.schema ${CMAKE_CURRENT_LIST_DIR}/luabench/schema.lua
  luabench.script ${CMAKE_CURRENT_LIST_DIR}/luabench/script.lua
  luabench.secrets ${CMAKE_CURRENT_LIST_DIR}/luabench/secrets.lua
  luabench.shares ${CMAKE_CURRENT_LIST_DIR}/luabench/shares.lua
  luabench.site ${CMAKE_CURRENT_LIST_DIR}/luabench/site.lua
  luabench.shared ${CMAKE_CURRENT_LIST_DIR}/luabench/shared.lua
  luabench.stage ${CMAKE_CURRENT_LIST_DIR}/luabench/stage.lua
  luabench.statuses ${CMAKE_CURRENT_LIST_DIR}/luabench/statuses.lua
  luabench.summary ${CMAKE_CURRENT_LIST_DIR}/luabench/summary.lua
  luabench.tags ${CMAKE_CURRENT_LIST_DIR}/luabench/tags.lua
  luabench.terminal ${CMAKE_CURRENT_LIST_DIR}/luabench/terminal.lua
  luabench.text ${CMAKE_CURRENT_LIST_DIR}/luabench/text.lua
  luabench.thresholds ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds.lua
  luabench.thresholds.metrics ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds/metrics.lua
  luabench.thresholds.parser ${CMAKE_CURRENT_LIST_DIR}/luabench/thresholds/parser.lua
  luabench.units ${CMAKE_CURRENT_LIST_DIR}/luabench/units.lua
  luabench.url ${CMAKE_CURRENT_LIST_DIR}/luabench/url.lua
  luabench.user ${CMAKE_CURRENT_LIST_DIR}/luabench/user.lua
  luabench.vu ${CMAKE_CURRENT_LIST_DIR}/luabench/vu.lua
  luabench.wrk ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk.lua
  luabench.wrk.api ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/api.lua
  luabench.wrk.env ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/env.lua
  luabench.wrk.script ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/script.lua
  luabench.wrk.sender ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/sender.lua
  luabench.wrk.stats ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/stats.lua
  luabench.wrk.thread ${CMAKE_CURRENT_LIST_DIR}/luabench/wrk/thread.lua
)
