-- Text that is safe to print, and its width.
package.path = "lua/?.lua;" .. package.path
local terminal = require "luabench.terminal"

describe("terminal.escape", function()
  local cases = {
    { "plain ~", "plain ~" }, { "a\27[31mb", "a\\x1b[31mb" }, { "a\r\n\tb", "a\\r\\n\\tb" }, { "\0\127", "\\x00\\x7f" }, { "日本 é µ", "日本 é µ" },
    { "\255\254", "\\xff\\xfe" }, { "\194\155J", "\\x9bJ" }, { "\226\128\174evil", "\\u{202e}evil" }, { "\192\128", "\\xc0\\x80" },
    { "\237\160\128", "\\xed\\xa0\\x80" }, { "\244\144\128\128", "\\xf4\\x90\\x80\\x80" }, { "\226\130", "\\xe2\\x82" }, { "", "" },
  }
  for _, case in ipairs(cases) do
    it(("shows %q"):format(case[2]), function() assert.equal(case[2], terminal.escape(case[1])) end)
  end
  it("accepts any value", function() assert.equal("nil", terminal.escape(nil)) end)

  it("lets no byte through that a terminal obeys, whatever comes", function()
    local state = 12345
    local function random(n)
      state = (state * 1103515245 + 12345) % 2 ^ 31
      return math.floor(state / 65536) % n
    end
    for _ = 1, 2000 do
      local bytes = {}
      for i = 1, random(20) do bytes[i] = string.char(random(256)) end
      local text = terminal.escape(table.concat(bytes))
      assert.is_nil(text:find("[%c]"))
      assert.is_nil(text:find("\194[\128-\159]"))
      assert.equal(text, terminal.utf8(text), "it is valid UTF-8")
      assert.equal(text, terminal.escape(text))
    end
  end)
end)

describe("terminal.utf8", function()
  it("keeps valid text with its control characters", function() assert.equal("é\n\27", terminal.utf8("é\n\27")) end)
  it("shows other bytes and NUL", function() assert.equal("a\\xff\\x00b", terminal.utf8("a\255\0b")) end)
end)

describe("widths", function()
  it("counts columns", function()
    for text, width in pairs { [""] = 0, abc = 3, ["µs"] = 2, ["日本"] = 4, ["e\204\129"] = 1, ["✓"] = 1, ["…"] = 1, ["🙂"] = 2, ["가"] = 2 } do
      assert.equal(width, terminal.width(text), text)
    end
  end)

  it("shortens to fit", function()
    assert.equal("abc", terminal.fit("abc", 3))
    assert.equal("ab…", terminal.fit("abcd", 3))
    assert.equal("日…", terminal.fit("日本語", 4))
    assert.equal("", terminal.fit("abc", 0))
    assert.equal("", terminal.fit("abc", -5))
  end)

  it("shortens in the middle", function()
    assert.equal("abc", terminal.squeeze("abc", 3))
    assert.equal("ab…hij", terminal.squeeze("abcdefghij", 6))
    assert.equal("日…語", terminal.squeeze("日本本語", 6))
    assert.equal("a…", terminal.squeeze("abcdef", 2))
    for columns = 0, 12 do assert.is_true(terminal.width(terminal.squeeze("日本語é-long", columns)) <= columns) end
  end)

  it("pads", function()
    assert.equal("µs  ", terminal.pad("µs", 4))
    assert.equal("  µs", terminal.pad("µs", 4, true))
    assert.equal("abcde", terminal.pad("abcde", 3))
  end)

  it("wraps at spaces and cuts what is longer than a line", function()
    assert.same({ "one two", "three" }, terminal.wrap("one two three", 8))
    assert.same({ "a", "bcdefgh", "ij k" }, terminal.wrap("a bcdefghij k", 7))
    assert.same({ "日本", "語" }, terminal.wrap("日本語", 4))
    assert.same({}, terminal.wrap("  ", 4))
  end)

  it("paints only when there is color", function()
    assert.equal("\27[31mx\27[0m", terminal.painter(true)("red", "x"))
    assert.equal("x", terminal.painter(false)("red", "x"))
    assert.equal("x", terminal.painter(true)(nil, "x"))
    assert.equal("", terminal.painter(true)("red", ""))
  end)
end)
