-- Progress. What is written is played on a small terminal, so that the tests see what a person would see.
package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
local live, terminal

-- A terminal: rows of cells, a cursor; obeys CR, LF, wrapping, cursor up and erase to the end of the screen; refuses anything else.
local Screen = {}
Screen.__index = Screen

local function screen(columns)
  return setmetatable({ columns = columns, rows = { {} }, row = 1, column = 1 }, Screen)
end

function Screen:put(character, width)
  if self.column + width - 1 > self.columns then
    self.row, self.column = self.row + 1, 1
  end
  self.rows[self.row] = self.rows[self.row] or {}
  self.rows[self.row][self.column] = character
  for i = 1, width - 1 do self.rows[self.row][self.column + i] = "" end
  self.column = self.column + width
end

function Screen:escape(parameters, command)
  if command == "A" then
    self.row = self.row - tonumber(parameters)
    assert(self.row >= 1, "the cursor stays on the screen")
  elseif command == "J" then
    for row = #self.rows, self.row + 1, -1 do self.rows[row] = nil end
    for column = #self.rows[self.row], self.column, -1 do self.rows[self.row][column] = nil end
  else
    assert(command == "m", "an escape sequence of these tests: " .. command)
  end
end

function Screen:write(text)
  local i = 1
  while i <= #text do
    local parameters, command, after = text:match("^\27%[(%d*)(%a)()", i)
    local c = text:sub(i, i)
    if command then
      self:escape(parameters, command)
      i = after
    elseif c == "\r" then
      self.column, i = 1, i + 1
    elseif c == "\n" then
      self.row, self.column, i = self.row + 1, 1, i + 1
      self.rows[self.row] = self.rows[self.row] or {}
    else
      local _, next_index = terminal.decode(text, i)
      local character = text:sub(i, next_index - 1)
      assert(not character:find("%c"), "no control character")
      self:put(character, terminal.width(character))
      i = next_index
    end
  end
end

function Screen:text()
  local lines = {}
  for i, row in ipairs(self.rows) do
    local cells = {}
    for column = 1, table.maxn(row) do cells[column] = row[column] or " " end
    lines[i] = table.concat(cells)
  end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n")
end

local function state(over)
  local all = { elapsed = 10.2, duration = 20, progress = 0.51, phase = "run", users = 50, started = 482163, responses = 482113, rate = 48211.3, errors = {}, dropped = 0,
    p50 = 0.000401, p99 = 0.00121 }
  for key, value in pairs(over or {}) do all[key] = value end
  return all
end

local function without(fields)
  local all = state()
  for _, field in ipairs(fields) do all[field] = nil end
  return all
end

local BLOCK = { progress = "block", color = true }

describe("the block", function()
  local view

  before_each(function()
    stub.install()
    live, terminal = require "luabench.live", require "luabench.terminal"
    stub.terminals[2] = 80
    view = screen(80)
    stub.core.write = function(fd, text)
      assert.equal(2, fd)
      view:write(text)
      return true
    end
  end)
  after_each(function()
    stub.core.write = function(fd, text)
      if stub.broken[fd] then return nil, stub.broken[fd] end
      stub.written[fd] = (stub.written[fd] or "") .. text
      return true
    end
  end)

  it("shows how the run goes", function()
    live.update(BLOCK, state { errors = { timeout = 12, reset = 3 }, dropped = 5 })
    assert.equal([[
10 s  ███████████████░░░░░░░░░░░░░░░   51%  10 s left
50 users   48,211 requests/s   p50 401 µs   p99 1.21 ms   482,113 responses
errors: timeout 12, reset 3   5 dropped]], view:text())
  end)

  it("is redrawn in place, and taken away", function()
    view:write("$ luabench\n")
    for i = 1, 50 do live.update(BLOCK, state { errors = i % 2 == 0 and { timeout = i } or {}, progress = i / 50, elapsed = i }) end
    assert.equal("$ luabench\n50 s  ██████████████████████████████  100%  0 s left\n50 users   48,211 requests/s   p50 401 µs   p99 1.21 ms   482,113 responses\n" ..
      "errors: timeout 50", view:text())
    live.done(BLOCK)
    assert.equal("$ luabench", view:text())
    live.done(BLOCK)
    assert.equal("$ luabench", view:text())
  end)

  it("goes on below a notice", function()
    live.update(BLOCK, state())
    live.notice(BLOCK, "waiting for 41 users\n\tand\27[2Jmore")
    live.update(BLOCK, state())
    local lines = view:text()
    assert.equal("waiting for 41 users\n    and\\x1b[2Jmore\n10 s  █", lines:sub(1, #"waiting for 41 users\n    and\\x1b[2Jmore\n10 s  █"))
    assert.equal(3, select(2, lines:gsub("\n", "")))
    live.done(BLOCK)
    assert.equal("waiting for 41 users\n    and\\x1b[2Jmore", view:text())
  end)

  it("is n/a without figures", function()
    live.update(BLOCK, without { "progress", "duration", "p50", "p99", "rate" })
    assert.equal("10 s\n50 users   n/a requests/s   p50 n/a   p99 n/a   482,113 responses", view:text())
  end)

  it("says that the run is ending", function()
    live.update(BLOCK, state { phase = "stopping", users = 41 })
    assert.truthy(view:text():find("10 s  ending: waiting for 41 users\n", 1, true))
  end)

  it("says that it is the warm-up", function()
    live.update(BLOCK, state { phase = "warm_up" })
    assert.truthy(view:text():find("10 s (warm-up)", 1, true))
  end)

  it("tells the time that is left by what is done, when nothing else is known", function()
    local known = without { "duration" }
    known.progress = 0.25
    live.update(BLOCK, known)
    assert.truthy(view:text():find(" 25%  31 s left", 1, true))
    known.progress = 0.001
    live.update(BLOCK, known)
    assert.is_nil(view:text():find("left", 1, true))
  end)

  for columns = 2, 100, 7 do
    it(("never wraps on %d columns"):format(columns), function()
      stub.terminals[2], view = columns, screen(columns)
      view:write("$\n")
      for i = 1, 3 do
        live.update(BLOCK, state { errors = { ["\27[31m日本語"] = 1e15 + i, timeout = 3, a = 1, b = 2, c = 3, d = 4 }, rate = 1e15, responses = 2 ^ 53, dropped = 2 ^ 53 })
        assert.is_true(#view.rows <= 5, view:text())
      end
      live.done(BLOCK)
      assert.equal("$", view:text())
    end)
  end

  it("is taken away whole after the terminal became narrower", function()
    view:write("$\n")
    live.update(BLOCK, state { errors = { timeout = 1 } })
    -- the terminal wraps what is there anew: play the same lines on a narrow one
    local lines = view:text()
    view = screen(20)
    view:write(lines .. "\n")
    stub.terminals[2] = 20
    live.update(BLOCK, state())
    assert.equal("$\n10 s   51%  10 s l…\n50 users   48,211 …", view:text())
    live.done(BLOCK)
    assert.equal("$", view:text())
  end)

  it("shows at most four errors, most frequent first", function()
    live.update(BLOCK, state { errors = { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 0 } })
    assert.truthy(view:text():find("errors: f 6, e 5, d 4, c 3, 2 other kinds", 1, true))
  end)
end)

describe("lines", function()
  before_each(function()
    stub.install()
    live = require "luabench.live"
  end)

  it("are plain", function()
    local plan = { progress = "lines", color = true }
    live.update(plan, state { errors = { timeout = 12 }, dropped = 3 })
    live.update(plan, state { phase = "stopping" })
    live.done(plan)
    assert.equal("10 s: 50 users, 48,211 requests/s, 482,113 responses, p50 401 µs, p99 1.21 ms, errors: timeout 12, 3 dropped\n" ..
      "10 s (ending): 50 users, 48,211 requests/s, 482,113 responses, p50 401 µs, p99 1.21 ms\n", stub.written[2])
  end)

  it("are not there when nothing is wanted, but notices are", function()
    local plan = { progress = "none" }
    live.update(plan, state())
    assert.is_nil(stub.written[2])
    live.notice(plan, "script.lua:3: boom")
    live.done(plan)
    assert.equal("script.lua:3: boom\n", stub.written[2])
    assert.is_nil(stub.written[1])
  end)

  it("are not there when the block is wanted and the terminal is gone", function()
    live.update({ progress = "block" }, state())
    assert.is_nil(stub.written[2])
  end)
end)
