#!/usr/bin/env python3
"""Checks the shape of the sources: who includes whom, which file may use which library, and how long files and functions are.

    check.py [ROOT]      prints what is wrong, a line each; exit status 1 when there is any

The arrows and the places of the libraries are those of docs/architecture.md.
"""
import re
import sys
from pathlib import Path

MAY_INCLUDE = {
    "base": "",
    "net": "base",
    "http": "net base",
    "metrics": "base",
    "target": "base",
    "script": "http net metrics target base",
    "run": "script http net metrics target base",
    "serve": "http net base",
    "main": "run script serve http net metrics target base",
}
ONLY_IN = [  # header, files that may include it
    (r"(lua|lauxlib|lualib|luajit)\.h", r"script/.*"),
    (r"openssl/.*", r"net/tls\w*\.[ch]"),
    (r"llhttp\.h", r"http/h1\w*\.c"),
    (r"nghttp2/.*", r"http/h2\w*\.c"),
    (r"zlib\.h", r"(metrics/hist_codec|http/decode)\.c"),
    (r"libxml/.*", r"script/api_html\.c"),
    (r"(brotli/.*|zstd\.h)", r"http/decode\.c"),
    (r"ev\.h", r"(net|serve|run)/.*|http/(conn|pool)\w*\.[ch]"),
]
LONGEST_FUNCTION = 80
LONGEST_FILE = 600

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def layer_of(path):
    return path.split("/")[0] if "/" in path else "main"


def include_errors(path, text):
    layer = layer_of(path)
    for mark, header in INCLUDE.findall(text):
        for pattern, place in ONLY_IN:
            if re.fullmatch(pattern, header) and not re.fullmatch(place, path):
                yield f"{path}: {header} may be included in {place} only"
        other = header.split("/")[0]
        if mark == '"' and other in MAY_INCLUDE and "/" in header:
            if other != layer and other not in MAY_INCLUDE[layer].split():
                yield f"{path}: {layer} must not know {other} ({header})"
        elif mark == '"':
            yield f"{path}: {header} is not given as folder/name.h below src/"


def functions(text):
    """(first line, number of lines) of every block at the outermost level that follows a closing parenthesis."""
    code = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match[0].count("\n"), code, flags=re.M)
    depth, start = 0, None
    for match in re.finditer(r"[{}]", code):
        if match[0] == "{":
            if depth == 0 and code[:match.start()].rstrip().endswith(")"):
                start = match.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start is not None:
                yield code.count("\n", 0, start) + 1, code.count("\n", start, match.start()) + 1
                start = None


def size_errors(path, text):
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        yield f"{path}: {lines} lines, more than {LONGEST_FILE}"
    if path.endswith(".c"):
        for line, length in functions(text):
            if length > LONGEST_FUNCTION:
                yield f"{path}:{line}: a function of {length} lines, more than {LONGEST_FUNCTION}"


def errors(root):
    sources = root / "src"
    for file in sorted(sources.rglob("*.[ch]")):
        path, text = file.relative_to(sources).as_posix(), file.read_text()
        if layer_of(path) not in MAY_INCLUDE:
            yield f"{path}: the folder is no layer that {Path(__file__).name} knows"
            continue
        yield from include_errors(path, text)
        yield from size_errors(path, text)
    for file in sorted((root / "lua").rglob("*.lua")):
        yield from size_errors(file.relative_to(root).as_posix(), file.read_text())


if __name__ == "__main__":
    found = list(errors(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]))
    print("\n".join(found) or "the sources are in shape")
    sys.exit(1 if found else 0)
