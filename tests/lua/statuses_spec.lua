-- luabench.statuses and luabench.tags: small texts that the core reads.
local statuses = require "luabench.statuses"
local tags = require "luabench.tags"

describe("statuses.read", function()
  it("takes numbers, classes and lists", function()
    assert.equal("404", statuses.read(404))
    assert.equal("404", statuses.read "404")
    assert.equal("2xx", statuses.read "2xx")
    assert.equal("2xx 404 500", statuses.read { "2xx", 404, "500" })
  end)
  it("refuses what is none", function()
    local form = 'write 404, "2xx" or { "2xx", 404 }'
    for _, case in ipairs { { 99, "99 is no status; " }, { 600, "600 is no status; " }, { 404.5, "404.5 is no status; " }, { "4xx5", '"4xx5" is no status; ' }, { "0xx", '"0xx" is no status; ' },
                            { true, "true is no status; " }, { {}, "it is empty; " }, { { 200, {} }, "a table is no status; " }, { { ok = 200 }, 'it is a list, and "ok" is no place in one; ' } } do
      local text, why = statuses.read(case[1])
      assert.is_nil(text)
      assert.equal(case[2] .. form, why)
    end
  end)
end)

describe("tags", function()
  it("are sorted lines", function()
    assert.equal("", tags.text {})
    assert.equal("a=b", tags.text { a = "b" })
    assert.equal("a=x=y\nb=1700000000000000\nc=true", tags.text { c = true, b = 1.7e15, a = "x=y" })
  end)
  it("come back as a table", function()
    assert.same({ a = "x=y", b = "1" }, tags.table "a=x=y\nb=1")
    assert.same({}, tags.table "")
  end)
  it("are names and texts", function()
    local form = 'tags are names and texts: { page = "cart" }, not '
    assert.equal(form .. '1 = "x"', select(2, tags.text { "x" }))
    assert.equal(form .. '"a b" = "x"', select(2, tags.text { ["a b"] = "x" }))
    assert.equal(form .. '"a" = a table', select(2, tags.text { a = {} }))
    assert.equal(form .. '"a" = "x\\ny"', select(2, tags.text { a = "x\ny" }))
    assert.equal("`status` is no tag: figures have it by themselves", select(2, tags.text { status = 1 }))
    assert.equal('must be a table, not "x"; write tags = { page = "cart" }', select(2, tags.text "x"))
    assert.equal("they are longer than 1000 characters", select(2, tags.text { a = ("x"):rep(600), b = ("y"):rep(600) }))
  end)
end)
