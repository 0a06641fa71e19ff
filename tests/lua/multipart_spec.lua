-- luabench.multipart: what is refused, and what the bytes are. That other programs read them is seen in tests/e2e/test_http_comfort.py.
require("core_stub").install()
local multipart = require "luabench.multipart"

local function joined(list, boundary)
  local parts = assert(multipart.read(list))
  return table.concat(multipart.body(parts, boundary or "B", function(path) return "<" .. path .. ">" end))
end

describe("multipart", function()
  it("is as RFC 7578 has it", function()
    assert.equal(table.concat({
      "--B", 'Content-Disposition: form-data; name="a"', "", "text",
      "--B", 'Content-Disposition: form-data; name="n"', "", "1700000000000000",
      "--B", 'Content-Disposition: form-data; name="t"', "", "true",
      "--B", 'Content-Disposition: form-data; name="f"; filename="photo.png"', "Content-Type: application/octet-stream", "", "<dir/photo.png>",
      "--B", 'Content-Disposition: form-data; name="g"; filename="other.txt"', "Content-Type: text/plain; charset=utf-8", "", "<x>",
      "--B", 'Content-Disposition: form-data; name="b"; filename="bytes"', "Content-Type: application/octet-stream", "", "\0\1\2",
      "--B", 'Content-Disposition: form-data; name="v"', "Content-Type: application/json", "", "{}",
      "--B--", "",
    }, "\r\n"), joined {
      { "a", "text" }, { "n", 1.7e15 }, { "t", true }, { "f", file = "dir/photo.png" }, { "g", file = "x", filename = "other.txt", type = "text/plain; charset=utf-8" },
      { "b", value = "\0\1\2", filename = "bytes" }, { "v", value = "{}", type = "application/json" },
    })
  end)
  it("escapes names as browsers do", function()
    assert.truthy(joined({ { 'a"\r\nb', "x", filename = "\195\164\n" } }):find('name="a%22%0D%0Ab"; filename="\195\164%0A"\r\n', 1, true))
  end)
  it("keeps texts together and files apart", function()
    local parts = multipart.read { { "a", "1" }, { "b", "2" }, { "c", file = "p" } }
    local file = {}
    local pieces = multipart.body(parts, "B", function() return file end)
    assert.equal(3, #pieces)
    assert.equal(file, pieces[2])
    assert.equal("\r\n--B--\r\n", pieces[3])
  end)
  it("has a boundary that is in no text", function()
    local boundary = multipart.boundary(multipart.read { { "a", "x" } })
    assert.truthy(boundary:find "^luabench%-%x+$")
    assert.is_true(#boundary <= 70)
    assert.equal(boundary, multipart.boundary(multipart.read { { "a", "y" } }))
    assert.not_equal(boundary, multipart.boundary(multipart.read { { "a", "--" .. boundary } }))
  end)
  it("says what is wrong", function()
    local function wrong(list) return select(2, multipart.read(list)) end
    local form = 'write multipart = { { "name", "value" }, { "name", file = "PATH" } }'
    assert.equal('must be a list, not "x"; ' .. form, wrong "x")
    assert.equal("is empty; " .. form, wrong {})
    assert.equal("`name` stands outside of a part; " .. form, wrong { name = "value" })
    assert.equal('part 1 must be a table, not "a"; ' .. form, wrong { "a" })
    assert.equal("part 2: the name must be a text, not nil; " .. form, wrong { { "a", "b" }, {} })
    assert.equal("part 1: the value must be a text or a number, not nil; " .. form, wrong { { "a" } })
    assert.equal("part 1: the value must be a text or a number, not a table; " .. form, wrong { { "a", {} } })
    assert.equal("part 1: two values; " .. form, wrong { { "a", "b", value = "c" } })
    assert.equal('part 1: "c" is one value too many; ' .. form, wrong { { "a", "b", "c" } })
    assert.equal("part 1: `file` and a value; " .. form, wrong { { "a", "b", file = "c" } })
    assert.equal("part 1: `file` must be a path, not true", wrong { { "a", file = true } })
    assert.equal("part 1: unknown key `fille`; did you mean `file`?; " .. form, wrong { { "a", fille = "x" } })
    assert.equal("part 1: `filename` must be a text, not 5", wrong { { "a", "b", filename = 5 } })
    assert.equal('part 1: "text" is no media type such as text/plain', wrong { { "a", "b", type = "text" } })
    assert.equal('part 1: "a/b\\r\\nX: y" is no media type such as text/plain', wrong { { "a", "b", type = "a/b\r\nX: y" } })
  end)
end)
