"""Files of rows and random choices, over several threads: every row once, the same choices for the same seed, and a message for what cannot be used."""
import collections
import re
import resource
from pathlib import Path

import pytest

CSV = 'name,"pass ""word""",note\r\nann,secret,"a, b"\r\nbob,"x""y","two\r\nlines"\r\n\r\ncy,z,\r\n'


def printed(done, pattern=r"ROW (.*)"):
    return re.findall(pattern, done.stderr)


def idle(run, load="iterations = 1", before=""):
    """A script that sends nothing."""
    return f'{before}\nscenario "s" {{ {load}, run = function(user)\n{run}\nend }}'


def test_csv_is_read_as_its_rules_say(luabench):
    (luabench.folder / "users.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    script = idle("", before="""local rows = file.csv("users.csv")
      for row in rows:each() do print("ROW " .. json.encode { row.name, row['pass "word"'], row.note }) end
      print("ROW " .. #rows .. tostring(rows[0]) .. tostring(rows[4]) .. rows[3].name)
      print("ROW " .. file.csv("users.csv", { header = false })[1][2])""")
    assert printed(luabench.run(script=script)) == [
        '["ann","secret","a, b"]', '["bob","x\\"y","two\\r\\nlines"]', '["cy","z",""]', "3nilnilcy", 'pass "word"']


def test_lines_json_and_text(luabench):
    (luabench.folder / "lines.txt").write_text("a\n\nb")
    (luabench.folder / "list.json").write_text('[{"id": 1}, [2, 3], "x", 9007199254740993]')
    script = idle("", before="""
      local lines, list = file.lines("lines.txt"), file.json("list.json")
      print("ROW " .. #lines .. lines[1] .. lines[2] .. lines[3])
      print("ROW " .. #list .. list[1].id .. list[2][2] .. list[3] .. list[4])
      print("ROW " .. #file.text("lines.txt"))""")
    assert printed(luabench.run(script=script)) == ["3ab", "413x9007199254740993", "4"]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_unique_rows_over_all_threads(luabench, threads):
    """Each row is given once, whoever asks; users that find none end, and are counted and said."""
    (luabench.folder / "ids.txt").write_text("".join(f"{i}\n" for i in range(1, 18)))
    script = idle('print("ROW " .. rows:next()) sleep(0.001)', "users = 8, duration = '5s'", 'local rows = file.lines("ids.txt", { mode = "unique" })')
    done = luabench.run("-t", threads, "-o", "result.json", script=script)
    assert done.returncode == 0, done.stderr
    assert sorted(map(int, printed(done))) == list(range(1, 18))
    assert '8 users ended for want of a row: ids.txt has 17, and each is used once (mode = "unique")' in luabench.saved_result()["notices"]


def test_circular_rows_over_all_threads(luabench):
    (luabench.folder / "ids.txt").write_text("a\nb\nc\n")
    script = idle('print("ROW " .. rows:next())', "users = 4, iterations = 12", 'local rows = file.lines("ids.txt")')
    assert collections.Counter(printed(luabench.run("-t", 4, script=script))) == {"a": 4, "b": 4, "c": 4}


def test_two_sources_of_a_file_are_drawn_from_apart(luabench):
    (luabench.folder / "ids.txt").write_text("a\nb\n")
    script = idle('print("ROW " .. one:next() .. two:next() .. rows:of(user))', "iterations = 2",
                  'local one, two = file.lines("ids.txt"), file.lines("ids.txt")\nlocal rows = one')
    assert printed(luabench.run(script=script)) == ["aaa", "bba"]


def test_a_big_file_is_not_copied(luabench):
    """200 MB, used by four threads: they may have less memory than that for what they write (pages of the file itself do not count)."""
    if b"__asan_init" in Path(luabench.path).read_bytes():
        pytest.skip("AddressSanitizer sets terabytes aside: a limit on memory means nothing")
    path = luabench.folder / "big.csv"
    with open(path, "w") as out:
        out.write("id,text\n")
        for i in range(200):
            out.write("".join(f"{i * 10000 + k},{'x' * 90}\n" for k in range(10000)))
    script = idle('local row = rows:next() if row.id % 1 ~= 0 or #row.text ~= 90 then fail("?") end', "users = 4, iterations = 1000",
                  'local rows = file.csv("big.csv", { mode = "random" })\nif #rows ~= 2000000 or rows[2000000].id ~= "1999999" then error("wrong") end')
    limit = path.stat().st_size * 9 // 10

    def limit_data():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    done = luabench.run("-t", 4, script=script + '\nlocal f = file.csv("big.csv")', preexec_fn=limit_data)
    assert done.returncode == 0, done.stderr


WRONG_FILES = {
    'file.csv("none.csv")': 'file.csv("none.csv"): No such file or directory',
    'file.csv("open.csv")': 'file.csv("open.csv"): line 2: a quoted field is not closed',
    'file.csv("twice.csv")': 'file.csv("twice.csv"): the header names the column `a` twice',
    'file.csv("users.csv", { mod = "unique" })': "file.csv: unknown key `mod`; did you mean `mode`?",
    'file.csv("users.csv", { mode = "uniqe" })': 'file.csv: `mode` is "circular", "random" or "unique", not "uniqe"; did you mean `unique`?',
    'file.csv("users.csv", { header = "yes" })': 'file.csv: `header` must be a boolean, not "yes"',
    'file.csv("users.csv", "unique")': 'file.csv: after the path comes a table: file.csv("PATH", { mode = "unique" })',
    "file.csv()": 'file.csv needs a path: file.csv("PATH"), not nil',
    'file.lines("users.csv", { header = false })': "file.lines: unknown key `header`",
    'file.json("users.csv")': 'file.json("users.csv"): not JSON: invalid token near \'name\' (line 1, column 4)',
    'file.text("none.txt")': 'file.text("none.txt"): No such file or directory',
    'file.cvs("users.csv")': "file has no function `cvs`; did you mean `csv`?",
    'local rows = file.csv("users.csv") rows:next()':
        "rows:next() is called while the script is loaded, when there are no users yet; rows[1] or rows:each() can be used here",
    'local rows = file.csv("users.csv") local x = rows[1].nam':
        'users.csv has no column `nam`; its columns: name, pass "word", note',
    'local rows = file.csv("users.csv") local x = rows.nxt':
        "rows have no field `nxt`; there are rows:next(), rows:of(user), rows:each(), rows[i] and #rows",
    'local rows = file.csv("users.csv") rows.each()': "call it with a colon: rows:each()",
    'local rows = file.csv("ragged.csv") local x = rows[2]': "ragged.csv, line 3: 3 cells, where the header names 2 columns",
}


@pytest.mark.parametrize("line, message", WRONG_FILES.items(), ids=WRONG_FILES)
def test_what_is_wrong_with_a_file_is_said_with_the_line(luabench, line, message):
    (luabench.folder / "users.csv").write_text(CSV)
    (luabench.folder / "open.csv").write_text('a,b\n"c,d\n')
    (luabench.folder / "twice.csv").write_text("a,b,a\n1,2,3\n")
    (luabench.folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    done = luabench.run(script=idle("", before="\n" + line))
    assert done.returncode == 2
    assert done.stderr == f"luabench: script.lua:2: {message}\n"


def test_a_file_is_opened_at_the_top(luabench):
    (luabench.folder / "ids.txt").write_text("a\n")
    done = luabench.run(script=idle('file.lines("ids.txt")'))
    assert "script.lua:3: file.lines is called while the script runs; it defines something, and belongs to the top of the script" in done.stderr


# Random choices

DRAW = """print("ROW " .. user.id .. ":" .. user.iteration .. " " .. table.concat({ random(), random.int(1, 1000), random.pick { "a", "b", "c" },
  random.pick { browse = 70, buy = 30 }, random.exp(2), random.string(8), random.uuid(), math.random(), math.random(9), math.random(5, 6),
  random.bytes(3):byte(1), rows:next() }, " "))"""


def choices(luabench, *args):
    (luabench.folder / "ids.txt").write_text("".join(f"{i}\n" for i in range(100)))
    done = luabench.run(*args, script=idle(DRAW, "users = 5, iterations_per_user = 3", 'local rows = file.lines("ids.txt", { mode = "random" })'))
    assert done.returncode == 0, done.stderr
    return sorted(printed(done))


def test_a_seed_repeats_the_choices_of_each_user_over_any_threads(luabench):
    one = choices(luabench, "--seed", 42, "-t", 1)
    assert len(set(one)) == 15
    assert choices(luabench, "--seed", 42, "-t", 2) == one
    assert choices(luabench, "--seed", 42, "-t", 5) == one
    assert choices(luabench, "--seed", 43, "-t", 1) != one


def test_without_a_seed_runs_differ_and_the_result_names_the_seed(luabench):
    script = idle('print("ROW " .. random())')
    first = printed(luabench.run("-o", "result.json", script=script))
    seed = luabench.saved_result()["options"]["seed"]
    assert printed(luabench.run(script=script)) != first
    assert printed(luabench.run("--seed", f"{seed:.0f}", script=script)) == first


def test_random_numbers_while_loading_are_alike_in_every_worker(luabench):
    script = idle('print("ROW " .. number)', "users = 4", "local number = random.int(1, 2^50)")
    assert len(set(printed(luabench.run("-t", 4, script=script)))) == 1


def test_pick_keeps_to_its_weights(luabench):
    """20000 draws: 4 standard deviations are 0.013 around 0.7."""
    script = idle('local n = 0 for i = 1, 20000 do if random.pick { browse = 7, buy = 3, never = 0 } == "browse" then n = n + 1 end end print("ROW " .. n)')
    assert abs(int(printed(luabench.run("--seed", 1, script=script))[0]) / 20000 - 0.7) < 0.013


WRONG_RANDOM = {
    "random(1)": "random() takes no argument; random.int(1, 6) gives whole numbers",
    "random.int(1)": "random.int takes two whole numbers: random.int(1, 6), not (1, nil)",
    "random.int(1, 1.5)": "random.int takes two whole numbers: random.int(1, 6), not (1, 1.5)",
    "random.int(6, 1)": "random.int(6, 1): the smaller number comes first",
    "random.pick()": "random.pick takes one table: random.pick(list) or random.pick { browse = 70, buy = 30 }, not nil",
    "random.pick {}": 'random.pick: there is nothing to pick from: random.pick { "a", "b" } or random.pick { browse = 70, buy = 30 }',
    "random.pick { a = -1 }": 'random.pick: the weight of "a" must be a number from 0, not -1: random.pick { browse = 70, buy = 30 }',
    "random.pick { a = 0 }": "random.pick: all weights are 0",
    'random.exp("1")': 'random.exp takes the mean, a number: random.exp(2.5), not "1"',
    "random.string()": "random.string takes a length: random.string(16), not nil",
    "random.bytes(-1)": "random.bytes takes a length: random.bytes(16), not -1",
    "random.uuid(4)": "random.uuid() takes no argument",
    "random.sample()": "random has no function `sample`; here it is called `pick`",
    "math.random(2, 1)": "math.random: the interval is empty: (2, 1)",
}


@pytest.mark.parametrize("line, message", WRONG_RANDOM.items(), ids=WRONG_RANDOM)
def test_wrong_calls_of_random(luabench, line, message):
    done = luabench.run(script=idle("", before="\nlocal _ = nil;" + ("local x = " + line)))
    assert done.returncode == 2
    assert done.stderr == f"luabench: script.lua:2: {message}\n"


# Texts

def test_texts(luabench):
    script = idle("", before="""print("ROW " .. table.concat({ text.between("a<b>c", "<", ">"), tostring(text.between("a", "<", ">")), text.url_encode("a b&ü/~"),
      text.base64("hi\\0"), text.sha256("abc"), text.hmac("Jefe", "what do ya want for nothing?"), text.sha256("abc", "base64") }, " "))""")
    assert printed(luabench.run(script=script)) == [
        "b nil a%20b%26%C3%BC%2F~ aGkA ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad "
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="]


WRONG_TEXTS = {
    'text.between("a", "b")': "text.between takes texts: text.between(s, left, right), not nil",
    "text.url_encode()": "text.url_encode takes one text, not nil",
    "text.base64(1)": "text.base64 takes one text, not 1",
    'text.sha256("a", "hexx")': 'text.sha256: the form is "hex", "base64" or "raw", not "hexx"',
    'text.hmac("k")': "text.hmac takes texts: text.hmac(key, s), not nil",
}


@pytest.mark.parametrize("line, message", WRONG_TEXTS.items(), ids=WRONG_TEXTS)
def test_wrong_calls_of_text(luabench, line, message):
    done = luabench.run(script=idle("", before="\nlocal x = " + line))
    assert done.returncode == 2
    assert done.stderr == f"luabench: script.lua:2: {message}\n"
