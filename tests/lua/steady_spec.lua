package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path

local steady = require "luabench.steady"

-- Two normal numbers by Box and Muller.
local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

-- `count` medians: level(i) with noise of 3%, neighbours correlated by `rho`.
local function series(count, level, rho)
  local list, state = {}, 0
  rho = rho or 0
  for i = 1, count do
    state = rho * state + math.sqrt(1 - rho * rho) * normal()
    list[i] = level(i) * math.exp(0.03 * state)
  end
  return list
end

local function share(times, make, class)
  local count = 0
  for _ = 1, times do
    local found = steady.classify(make()).class
    count = count + ((type(class) == "table" and class[found] or found == class) and 1 or 0)
  end
  return count / times
end

describe("the steady state of a run", function()
  before_each(function() math.randomseed(5) end)

  it("is there in a flat series, whose noise may be correlated", function()
    assert.is_true(share(300, function() return series(200, function() return 0.01 end) end, "flat") >= 0.95)
    assert.is_true(share(300, function() return series(200, function() return 0.01 end, 0.5) end, "flat") >= 0.95)
    assert.is_true(share(300, function() return series(30, function() return 0.01 end, 0.3) end, "flat") >= 0.95)
  end)

  it("is there with a stall now and then", function()
    assert.is_true(share(100, function() return series(200, function(i) return i % 40 == 0 and 0.2 or 0.01 end) end, "flat") >= 0.95)
  end)

  it("comes after a warm-up", function()
    local function warm(i) return 0.01 * (1 + 2 * math.exp(-i / 10)) end
    assert.is_true(share(100, function() return series(200, warm) end, "warm-up") >= 0.95)
    local found = steady.classify(series(200, warm))
    assert.is_true(found.discard >= 15 and found.discard <= 80)
    assert.is_true(found.first > 1.2 * found.last)
  end)

  it("is left by a slowdown", function()
    local other = { slowdown = true, unsteady = true }
    assert.is_true(share(100, function() return series(200, function(i) return i > 100 and 0.012 or 0.01 end) end, other) >= 0.95)
    assert.is_true(share(100, function() return series(200, function(i) return i > 160 and 0.013 or 0.01 end) end, "unsteady") >= 0.95)
  end)

  it("is not there in a drift", function()
    local moving = { drifting = true, slowdown = true, unsteady = true }
    assert.is_true(share(100, function() return series(200, function(i) return 0.001 * (1 + 99 * i / 200) end) end, moving) >= 0.99)
    assert.is_true(share(100, function() return series(200, function(i) return 0.01 * (1 + 0.2 * i / 200) end) end, moving) >= 0.95)
  end)

  it("is not told from a few bins", function()
    assert.is_nil(steady.classify(series(19, function() return 1 end)))
  end)

  it("is found while the run goes on", function()
    local function warm(i) return 0.01 * (1 + 2 * math.exp(-i / 10)) end
    assert.is_false(steady.settled(series(15, warm)))
    local early, flat, late = 0, 0, 0
    for _ = 1, 100 do
      early = early + (steady.settled(series(22, warm)) and 1 or 0)
      flat = flat + (steady.settled(series(25, function() return 0.01 end)) and 1 or 0)
      late = late + (steady.settled(series(150, warm)) and 1 or 0)
    end
    assert.is_true(early <= 10)
    assert.is_true(flat >= 60)
    assert.is_true(late >= 80)
  end)

  it("cuts where MSER-5 says", function()
    -- by hand: 5 groups of five, the first of which is far off: the cut is after it
    local y = {}
    for i = 1, 50 do y[i] = i <= 5 and 10 or (i % 2 == 0 and 1 or 2) end
    local cut, found = steady.truncation(y)
    assert.equal(5, cut)
    assert.is_true(found)
    for i = 1, 50 do y[i] = 100 - i end
    cut, found = steady.truncation(y)
    assert.equal(25, cut)
    assert.is_false(found)
  end)
end)
