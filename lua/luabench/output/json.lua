-- -o FILE.json: the document itself.
return require("luabench.results").encode
