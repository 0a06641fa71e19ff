"""What a script may do, and the ways out of a Lua sandbox that are known: none of them leads out, and what is refused names the flag that allows it."""
import os

import pytest

SCENARIO = '\nscenario "s" { run = function() end }\n'
HINT = "a script may read below its own folder alone; --allow-read={} gives leave"


def load(luabench, text, *args, **options):
    return luabench.run("--dry-run", *args, script=text + SCENARIO, **options)


@pytest.fixture
def outside(tmp_path_factory):
    """A folder beside the script's, with a file."""
    folder = tmp_path_factory.mktemp("outside").resolve()
    (folder / "secret.txt").write_text("the secret\n")
    return folder


# What is refused, and how that is said.

REFUSED = {
    'io.open("/etc/hostname")': 'io.open("/etc/hostname"): ' + HINT.format("/etc"),
    'io.open("../x")': 'io.open("../x"): ' + HINT.format("{parent}"),
    'io.lines("/etc/passwd")': 'io.lines("/etc/passwd"): ' + HINT.format("/etc"),
    'file.text("/etc/passwd")': 'file.text("/etc/passwd"): ' + HINT.format("/etc"),
    'io.open("link.txt")': 'io.open("link.txt"): ' + HINT.format("{outside}"),
    'io.open("linked/secret.txt")': 'io.open("linked/secret.txt"): ' + HINT.format("{outside}"),
    'io.open("/proc/self/mem")': 'io.open("/proc/self/mem"): nothing below /proc, /sys and /dev can be read without -A',
    'io.open("/dev/zero")': 'io.open("/dev/zero"): nothing below /proc, /sys and /dev can be read without -A',
    'io.open("x.txt", "w")': 'io.open("x.txt"): a script may not write files; --allow-write={here} gives leave',
    'io.open("script.lua", "r+")': 'io.open("script.lua"): a script may not write files; --allow-write={here} gives leave',
    'io.open("script.lua", "a")': 'io.open("script.lua"): a script may not write files; --allow-write={here} gives leave',
    'io.open("script.lua", "rw")': 'io.open: "rw" is no mode; write "r" or "rb"',
    "io.tmpfile()": "io.tmpfile is not allowed to scripts; -A gives leave",
    'io.popen("id")': "io.popen is not allowed to scripts; --allow-run gives leave",
    'io.write("x")': "io.write is not available to scripts; use print or log.info: standard output is for the results",
    "io.read()": "io.read is not available to scripts; what a run needs comes with -p, -e or a file",
    'os.execute("id")': "os.execute is not allowed to scripts; --allow-run gives leave",
    'os.remove("script.lua")': 'os.remove("script.lua"): a script may not write files; --allow-write={here} gives leave',
    'os.rename("script.lua", "x")': 'os.rename("script.lua"): a script may not write files; --allow-write={here} gives leave',
    "os.tmpname()": "os.tmpname is not allowed to scripts; -A gives leave",
    "os.exit(0)": 'os.exit is not available to scripts; use stop_run("why")',
    'os.setlocale("C")': "os.setlocale is not available to scripts; numbers are always written with a point",
    'require "ffi"': "module `ffi` is not allowed to scripts; --allow-ffi gives leave",
    "require(1LL and 'ffi')": "module `ffi` is not allowed to scripts; --allow-ffi gives leave",
    "env.HOME = 1": "env.HOME cannot be assigned; -e HOME=VALUE sets it",
    "local f = newproxy": "`newproxy` is not available to scripts",
    "local f = setfenv": "`setfenv` is not available to scripts",
    "local f = package": "`package` is not available to scripts; use require",
    "local f = ffi": '`ffi` is not available to scripts; require "ffi" gives it, with --allow-ffi',
    'require "package"': "module `package` is not available to scripts",
    'require "jit.util"': "module `jit.util` is not available to scripts",
    'require "luabench.core"': "there is no module `luabench.core`; did you mean `luabench.file`?",
    'require "../outside"': '"../outside" is not the name of a module; write require "lib.name" for lib/name.lua',
    'require "/etc/passwd"': '"/etc/passwd" is not the name of a module; write require "lib.name" for lib/name.lua',
}


@pytest.mark.parametrize("line, message", REFUSED.items(), ids=REFUSED)
def test_refused(luabench, outside, line, message):
    (luabench.folder / "link.txt").symlink_to(outside / "secret.txt")
    (luabench.folder / "linked").symlink_to(outside)
    here = luabench.folder.resolve()
    message = message.replace("{here}", str(here)).replace("{parent}", str(here.parent)).replace("{outside}", str(outside))
    done = load(luabench, "\n" + ("" if line.startswith(("local", "env")) else "local x = ") + line)
    assert done.returncode == 2
    assert done.stderr.split("\n")[0] == f"luabench: script.lua:2: {message}"


@pytest.mark.parametrize("key", ["ca", "cert", "key", "unix_socket"])
def test_files_of_connections_are_read_with_leave(luabench, outside, key):
    def run(path, *args):
        return luabench.run("--dry-run", "--target", "http://127.0.0.1:1", *args, script=f'scenario "s" {{ http = {{ cert = "script.lua", {key} = "{path}" }}, run = function() end }}')
    done = run(outside / "secret.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f'luabench: script.lua:1: scenario "s": http: `{key}`: "{outside}/secret.txt": {HINT.format(outside)}\n'
    assert HINT.format(outside) not in run(outside / "secret.txt", f"--allow-read={outside}").stderr
    assert "without -A" in run("/proc/self/mem", "--allow-read").stderr


BODIES = {
    'file = "{outside}/secret.txt"': HINT.format("{outside}"), 'file = "linked/secret.txt"': HINT.format("{outside}"), 'file = "/proc/self/mem"': "without -A",
    'multipart = {{ {{ "a", file = "{outside}/secret.txt" }} }}': HINT.format("{outside}"), 'multipart = {{ {{ "a", file = "script.lua\\0/../x" }} }}': "zero byte",
}


@pytest.mark.parametrize("body, message", BODIES.items(), ids=BODIES)
def test_files_that_are_sent_are_read_with_leave(luabench, outside, target, body, message):
    (luabench.folder / "linked").symlink_to(outside)
    script = f'scenario "s" {{ iterations = 1, run = function() http.post("/echo", {{ {body.format(outside=outside)} }}) end }}'
    done = luabench.run("--target", target.url, script=script)
    assert done.returncode == 3 and message.replace("{outside}", str(outside)) in done.stderr, done.stderr
    assert target.requests() == 0


# Ways out. Each is a chunk that raises "ESCAPED" when it has got what it should not.

WAYS_OUT = {
    "bytecode in load": 'if load("\\27LJ\\2\\0", "x", "b") or load(function() return "\\27LJ" end) or loadstring("\\27Lua") then error "ESCAPED" end',
    "string.dump": '''for _, read in ipairs { function() return string.dump end, function() return ("").dump end, function() return require("string").dump end } do
        if pcall(read) then error "ESCAPED" end end''',
    "metatable of strings": 'if getmetatable("") then error "ESCAPED" end  pcall(setmetatable, "", {})',
    "method of strings replaced": '''pcall(function() rawset(string, "format", function() error "ESCAPED" end) end)
        pcall(check, 1)  local s = ("%d"):format(1)''',
    "getinfo gives functions of the core": '''for level = 0, 20 do
        local info = debug.getinfo(level, "f") or {}
        if info.func then error "ESCAPED" end
        info = debug.getinfo(level, "nSluLf") or {}
        if info.func or info.activelines then error "ESCAPED" end
        info = debug.getinfo(level) or {}
        if info.func then error "ESCAPED" end
      end
      if (debug.getinfo(coroutine.create(print), 0, "f") or {}).func or debug.getinfo(print, "f").func then error "ESCAPED" end''',
    "debug": '''for _, name in ipairs { "getregistry", "getupvalue", "setupvalue", "getlocal", "setlocal", "sethook", "gethook", "setmetatable", "getmetatable",
        "getfenv", "setfenv", "upvaluejoin", "upvalueid", "getuservalue", "debug" } do if pcall(function() return debug[name] end) then error "ESCAPED" end end''',
    "environment through _G": '''for _, name in ipairs { "setfenv", "getfenv", "newproxy", "package", "module", "dofile", "loadfile", "ffi" } do
        if pcall(function() return _G[name] end) or rawget(_G, name) then error "ESCAPED" end end
      if getmetatable(_G) then error "ESCAPED" end''',
    "environment of a loaded chunk": 'local f = load("return getfenv") if f then error "ESCAPED" end  if load("return getfenv", "x", "t", {})() then error "ESCAPED" end',
    "ffi by a literal": 'local a, b = 1LL, 2i  if pcall(require, "ffi") then error "ESCAPED" end  if load("local x = 1ULL return x") and pcall(require, "ffi") then error "ESCAPED" end',
    "ffi by the metatable of a literal": 'local meta = getmetatable(1LL) if type(meta) == "table" then error "ESCAPED" end  if pcall(function() return (1LL).cast end) then error "ESCAPED" end',
    "pointers of string.buffer": '''local b = require("string.buffer").new() b:put("abc")
      for _, name in ipairs { "ref", "reserve", "commit", "putcdata", "__index", "__gc" } do if b[name] then error "ESCAPED" end end
      if pcall(b.set, b, 1LL, 8) or type(getmetatable(b)) == "table" then error "ESCAPED" end
      if b:set("xyz"):get() ~= "xyz" then error "broken" end''',
    "cdata from string.buffer": '''local buffer = require "string.buffer"
      for byte = 0, 255 do local ok, value = pcall(buffer.decode, string.char(byte) .. ("\\65"):rep(16))
        if ok and type(value) == "cdata" and tostring(value):find("cdata") then error "ESCAPED" end end''',
    "light pointers from string.buffer": '''local buffer = require "string.buffer"
      local ok, pointer = pcall(buffer.decode, "\\4" .. ("\\65"):rep(8))
      for _, f in ipairs { json.encode, tostring, check, fail, http.get, random.pick, file.csv, text.between } do pcall(f, pointer, pointer) end''',
    "metatable of files": '''local f = io.open("script.lua") if type(getmetatable(f)) == "table" then error "ESCAPED" end f:close()''',
    "writing through a file opened for reading": 'local f = io.open("script.lua") if f:write("ESCAPED") then f:close() f = io.open("script.lua") if f:read("*a"):sub(1, 7) == "ESCAPED" then error "ESCAPED" end end',
    "zero bytes in paths": 'if pcall(io.open, "script.lua\\0/../../../etc/passwd") then error "ESCAPED" end  if pcall(io.open, "/etc/passwd\\0.lua") then error "ESCAPED" end',
    "dots in paths": 'if pcall(io.open, "./../../../../../../../etc/passwd") then error "ESCAPED" end',
    "objects that are no strings as paths": '''local n = 0 local t = setmetatable({}, { __tostring = function() n = n + 1 return n > 1 and "/etc/passwd" or "script.lua" end })
      if pcall(io.open, t) or pcall(io.lines, t) or pcall(file.text, t) then error "ESCAPED" end''',
    "names of modules": 'for _, name in ipairs { "luabench.main", "luabench.permissions", "luabench.core", "jit.util", "jit.opt", "package", "a..b", ".", "" } do if pcall(require, name) then error "ESCAPED" end end',
    "rawset on globals": 'pcall(rawset, _G, "io", 1) pcall(rawset, io, "open", 1) local ok = pcall(io.open, "/etc/passwd") if ok then error "ESCAPED" end',
    "coroutines": 'local co = coroutine.wrap(function() return pcall(io.open, "/etc/passwd") end) if co() then error "ESCAPED" end  if pcall(coroutine.wrap(io.open), "/etc/passwd") then error "ESCAPED" end',
    "handlers of xpcall": 'if xpcall(error, function() return pcall(io.open, "/etc/passwd") and error "ESCAPED" end) then error "ESCAPED" end',
    "callbacks of gsub and sort": '("x"):gsub("x", function() if pcall(io.open, "/etc/passwd") then error "ESCAPED" end end)  table.sort({ 2, 1 }, function() return pcall(os.execute, "id") end)',
    "finalizers": 'setmetatable({}, { __gc = function() error "ESCAPED" end }) collectgarbage()',
    "the object of an error": '''local ok, e = pcall(scenario, "x", { users = {} })
      local meta = type(e) == "table" and getmetatable(e)
      if type(meta) == "table" then for _, value in pairs(meta) do if type(value) == "function" and pcall(value, "-A") then error "ESCAPED" end end end''',
    "a chunk that poses as ours": 'local f = load("return io.open(\'/etc/passwd\')", "@lua/luabench/file.lua") if pcall(f) then error "ESCAPED" end',
    "jit": 'for _, name in ipairs { "on", "off", "flush", "util", "opt", "attach", "security", "prngstate" } do if pcall(function() return jit[name] end) then error "ESCAPED" end end',
    "argument lists": 'if arg then error "ESCAPED" end',
}


@pytest.mark.parametrize("way", WAYS_OUT.values(), ids=WAYS_OUT)
def test_no_way_out(luabench, way):
    way = way.replace("if arg then", "if pcall(function() return _G.arg end) then")
    done = load(luabench, way)
    assert "ESCAPED" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_no_way_out_by_what_a_running_user_has(luabench, target):
    """Objects of C are found everywhere; what releases their memory must not be called by a script."""
    script = """local visited = {}
      local function look(value, name)
        if visited[value] then return end
        visited[value] = true
        local meta = getmetatable(value)
        if type(value) == "userdata" and type(meta) == "table" then fail("ESCAPED by the metatable of " .. name) end
        if type(value) ~= "table" then return end
        for key, each in pairs(value) do
          if type(each) == "table" or type(each) == "userdata" then look(each, name .. "." .. tostring(key)) end
        end
        if type(meta) == "table" then look(meta, name .. "(meta)") end
      end
      scenario "s" { iterations = 1, run = function(user)
        local res = http.get("/hello")
        for _, field in ipairs { "headers", "time", "cookies" } do look(res[field], field) end
        look(res, "res") look(user, "user") look(user.cookies, "cookies")
        look(select(2, pcall(fail, "x")), "error") look(file.lines, "file") look(spawn(function() end), "task")
      end }"""
    done = luabench.run("--target", target.url, script=script)
    assert done.returncode == 0 and "ESCAPED" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_no_way_out_for_a_module(luabench):
    (luabench.folder / "evil.lua").write_text("""
      function leak() return pcall(io.open, "/etc/passwd") end
      assert(not leak() and not pcall(require, "ffi") and setfenv == nil and package == nil and string.dump == nil)
      assert(not pcall(function() http = 1 end) and _G.leak == leak)
      return leak""")
    done = load(luabench, 'local leak = require "evil" if leak() then error "ESCAPED" end')
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("field, why", {
    "string.dump": "bytecode is neither written nor read; a function goes to other places as text",
    "debug.sethook": "debug.traceback and debug.getinfo are all there is; it leads out of what a script may do, and no option gives it",
    "jit.off": "how scripts are compiled is luabench's; there are jit.version, jit.version_num, jit.os and jit.arch",
    "io.stdout": "standard output is for the results; use print or log.info",
}.items())
def test_what_is_withheld_of_a_library_is_told(luabench, field, why):
    done = luabench.run("--dry-run", script=f"\nlocal x = {field}" + SCENARIO)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"luabench: script.lua:2: {field} is not available to scripts: {why}")


# What each flag gives.

def test_below_the_scripts_folder_files_can_be_read(luabench):
    (luabench.folder / "data").mkdir()
    (luabench.folder / "data/a.txt").write_text("one\ntwo\n")
    (luabench.folder / "inside.txt").symlink_to("data/a.txt")
    done = load(luabench, """assert(io.open("data/a.txt"):read("*a") == "one\\ntwo\\n" and io.open("inside.txt", "rb"):read(3) == "one")
      local list = {} for line in io.lines("data/../data/a.txt") do list[#list + 1] = line end assert(list[2] == "two")
      local f, why = io.open("data/none.txt") assert(f == nil and why:find("No such file"))
      f, why = io.open("none/none/none.txt") assert(f == nil and why:find("No such file"))""")
    assert done.returncode == 0, done.stderr


def test_a_script_elsewhere_reads_beside_itself(luabench, outside):
    (outside / "plan.lua").write_text('print(file.text("secret.txt"))' + SCENARIO)
    done = luabench.run(outside / "plan.lua", "--dry-run")
    assert done.returncode == 0 and "the secret" in done.stderr


READ_OUTSIDE = 'print(io.open(... .. "/secret.txt"):read("*a"))'


@pytest.mark.parametrize("flags", [["--allow-read"], ["--allow-read={}"], ["--root", "{}"], ["--root={}"], ["-A"]], ids=str)
def test_reading_elsewhere_with_leave(luabench, outside, flags):
    done = luabench.run("--dry-run", *(flag.format(outside) for flag in flags), "--", str(outside) + "/.", script=READ_OUTSIDE + SCENARIO)
    assert done.returncode == 0 and "the secret" in done.stderr, done.stderr


def test_leave_for_one_folder_is_none_for_another(luabench, outside):
    sibling = outside.parent / (outside.name + "2")
    sibling.mkdir()
    (sibling / "secret.txt").write_text("x")
    done = load(luabench, f'io.open("{sibling}/secret.txt")', f"--allow-read={outside}")
    assert done.returncode == 2 and f"--allow-read={sibling}" in done.stderr


def test_allow_read_does_not_open_the_kernels_files(luabench):
    assert load(luabench, 'io.open("/proc/self/environ")', "--allow-read").returncode == 2
    assert load(luabench, 'assert(io.open("/proc/self/environ"))', "-A").returncode == 0


def test_files_that_the_command_line_names(luabench, outside):
    secret = outside / "secret.txt"
    assert luabench.run("--dry-run", "--", secret, script="assert(io.open(...))" + SCENARIO).returncode == 0
    assert load(luabench, 'assert(io.open(params { f = "" }.f))', "-p", f"f={secret}").returncode == 0
    (outside / "other.txt").write_text("x")
    assert luabench.run("--dry-run", "--", secret, script=f'io.open("{outside}/other.txt")' + SCENARIO).returncode == 2


def test_writing_with_leave(luabench, outside):
    script = f"""local f = io.open("{outside}/new.txt", "w") f:write("written") f:close()
      os.rename("{outside}/new.txt", "{outside}/moved.txt") os.remove("{outside}/secret.txt")"""
    assert load(luabench, script).returncode == 2
    assert not (outside / "new.txt").exists()
    assert load(luabench, script, f"--allow-write={outside}").returncode == 0
    assert (outside / "moved.txt").read_text() == "written"
    assert not (outside / "secret.txt").exists()
    assert load(luabench, f'io.open("{outside}/../x.txt", "w")', f"--allow-write={outside}").returncode == 2


def test_running_and_ffi_with_leave(luabench):
    assert load(luabench, 'assert(os.execute("true") == 0 and io.popen("echo hi"):read("*l") == "hi")', "--allow-run").returncode == 0
    assert load(luabench, 'assert(require("ffi").sizeof("int") == 4)', "--allow-ffi").returncode == 0
    assert load(luabench, 'require "ffi"', "--allow-run").returncode == 2


# The environment and secrets.

def test_env_has_what_is_given(luabench):
    environment = {**os.environ, "TOKEN_ONE": "first value", "TOKEN_TWO": "second"}
    done = load(luabench, 'assert(env.TOKEN_ONE == "first value" and env.X == "a=b" and env.HOME == nil and os.getenv("X") == "a=b" and env.NOWHERE == nil)',
                "-e", "TOKEN_ONE", "-e", "X=a=b", env=environment)
    assert done.returncode == 0, done.stderr
    done = load(luabench, "assert(env.TOKEN_TWO == nil)", env=environment)
    assert done.returncode == 0
    assert done.stderr == "luabench: warning: the variable TOKEN_TWO is set, but scripts see none unless it is passed on: -e TOKEN_TWO\n"


WRONG_ENV = {
    "NOT_SET_ANYWHERE": "-e NOT_SET_ANYWHERE: there is no such variable in the environment; give it a value: -e NOT_SET_ANYWHERE=VALUE",
    "1X=2": '-e: "1X=2" is neither NAME nor NAME=VALUE',
}


@pytest.mark.parametrize("word, message", WRONG_ENV.items(), ids=WRONG_ENV)
def test_wrong_env(luabench, word, message):
    done = load(luabench, "", "-e", word)
    assert done.returncode == 2 and done.stderr == f"luabench: {message}\n"


SHOWS = """local p = params { token = { "", "API token", secret = true } }
scenario "s" { run = function()
  print("token " .. p.token .. " key " .. env.KEY)
  check("with " .. p.token, true)
  fail("no luck with " .. env.KEY)
end }"""


def test_secrets_are_hidden_everywhere(luabench):
    args = ["-p", "token=tok-(1)%s", "-e", "KEY=key%value"]
    done = luabench.run(*args, "-o", "result.json", script=SHOWS)
    everything = done.stdout + done.stderr + (luabench.folder / "result.json").read_text()
    assert "tok-(1)%s" not in everything and "key%value" not in everything
    assert "token *** key ***" in done.stderr and "with ***" in done.stdout
    assert luabench.saved_result()["options"]["params"]["token"] == "***"
    done = luabench.run(*args, "--show-secrets", "-o", "result.json", script=SHOWS)
    assert "token tok-(1)%s key key%value" in done.stderr
    assert luabench.saved_result()["options"]["params"]["token"] == "tok-(1)%s"
