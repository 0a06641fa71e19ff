"""check.py finds what it is there to find, and nothing else."""
import pytest

import check


def check_file(tmp_path, path, text):
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return list(check.errors(tmp_path))


def function_of(lines):
    return "int f(int a)\n{\n" + "    a++;\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize("path, text", [
    ("src/base/a.c", '#include "net/loop.h"\n'),
    ("src/net/a.c", '#include "http/pool.h"\n'),
    ("src/http/a.h", '#include "script/vm.h"\n'),
    ("src/http/a.c", '#include "metrics/hist.h"\n'),
    ("src/metrics/a.c", '#include "net/loop.h"\n'),
    ("src/script/a.c", '#  include "run/worker.h"\n'),
    ("src/serve/a.c", '#include "script/vm.h"\n'),
    ("src/run/a.c", '#include "serve/serve.h"\n'),
    ("src/base/a.c", '#include "buf.h"\n'),
    ("src/other/a.c", "\n"),
    ("src/run/a.c", "#include <lua.h>\n"),
    ("src/http/a.c", "#include <lauxlib.h>\n"),
    ("src/net/tcp.c", "#include <openssl/ssl.h>\n"),
    ("src/http/conn.c", "#include <llhttp.h>\n"),
    ("src/http/h1.c", "#include <nghttp2/nghttp2.h>\n"),
    ("src/script/a.c", "#include <ev.h>\n"),
    ("src/http/url.c", "#include <ev.h>\n"),
    ("src/base/a.c", function_of(check.LONGEST_FUNCTION + 1)),
    ("src/base/a.c", '#define OPEN {\nconst char *s = "{";\n' + function_of(check.LONGEST_FUNCTION + 1)),
    ("src/base/a.h", "\n" * (check.LONGEST_FILE + 1)),
    ("lua/luabench/a.lua", "\n" * (check.LONGEST_FILE + 1)),
])
def test_bad_source_is_found(tmp_path, path, text):
    assert len(check_file(tmp_path, path, text)) == 1


@pytest.mark.parametrize("path, text", [
    ("src/base/a.c", '#include <stdio.h>\n\n#include "base/a.h"\n'),
    ("src/main.c", '#include "run/runner.h"\n#include "serve/serve.h"\n'),
    ("src/run/a.c", '#include "metrics/hist.h"\n#include <ev.h>\n'),
    ("src/script/a.c", "#include <lua.h>\n"),
    ("src/net/tls.c", "#include <openssl/ssl.h>\n"),
    ("src/http/h1_parse.c", "#include <llhttp.h>\n"),
    ("src/http/h2.c", "#include <nghttp2/nghttp2.h>\n"),
    ("src/http/conn.h", "#include <ev.h>\n"),
    ("src/base/a.c", function_of(check.LONGEST_FUNCTION)),
    ("src/base/a.c", "struct a {\n" + "    int b;\n" * 100 + "};\n"),
    ("src/base/a.c", "static const int table[] = {\n" + "    1,\n" * 100 + "};\n"),
])
def test_good_source_passes(tmp_path, path, text):
    assert check_file(tmp_path, path, text) == []


def test_line_and_length_of_a_function_are_right():
    text = "/* { */\nint a(void)\n{\n    if (1) {\n    }\n}\n\nint b(void) {\n}\n"
    assert list(check.functions(text)) == [(3, 4), (8, 2)]
