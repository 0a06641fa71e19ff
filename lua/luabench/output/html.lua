-- -o FILE.html: the report as one page that needs nothing else.
return require("luabench.report.html").render
