package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path

local intervals = require "luabench.intervals"
local queue = require "queue"

-- REPLAYS=2000 for the figures of docs/latency.md; the fewer of every day are enough to see that it is not 30%.
local REPLAYS = tonumber(os.getenv("REPLAYS") or 100)
local RATE, SERVICE, COUNT, SLOTS = 700, 1000, 42000, 300 -- a minute at load 0.7

describe("the interval of a quantile", function()
  -- truth: the sojourn time of M/M/1 is exponential with rate service - rate
  local function truth(q) return -math.log(1 - q) / (SERVICE - RATE) end

  local function coverage(quantiles, replays, seed)
    local covered = {}
    math.randomseed(seed)
    for _ = 1, replays do
      local arrivals, times = queue.mm1(RATE, SERVICE, COUNT, math.random)
      local hist, timeline = queue.figures(arrivals, times, arrivals[#arrivals] + 1e-9, SLOTS)
      for _, q in ipairs(quantiles) do
        local low, high = intervals.of(hist, timeline, q)
        if low <= truth(q) and (not high or truth(q) <= high) then covered[q] = (covered[q] or 0) + 1 end
      end
    end
    return covered
  end

  it("covers the truth of an M/M/1 queue at load 0.7 in 92 to 98% of runs", function()
    local covered = coverage({ 0.5, 0.9, 0.99 }, REPLAYS, 20261201)
    -- five standard errors of the share itself
    local slack = REPLAYS >= 2000 and 0 or 5 * math.sqrt(0.05 * 0.95 / REPLAYS)
    for _, q in ipairs { 0.9, 0.99 } do
      local share = covered[q] / REPLAYS
      if os.getenv("REPLAYS") then print(("p%g: covered in %.1f%% of %d runs"):format(q * 100, share * 100, REPLAYS)) end
      assert.is_true(share >= 0.92 - slack and share <= 0.98 + slack, ("p%g covered in %.3f"):format(q * 100, share))
    end
  end)

  local function steady(value)
    local arrivals, times = {}, {}
    for i = 1, 1000 do arrivals[i], times[i] = i / 100, value(i) end
    return queue.figures(arrivals, times, 10.001, 100)
  end

  it("is the binomial one where batches agree", function()
    -- 1 .. 100 ms in turn: each batch is like the others, and the share at or below p90 has a standard error of sqrt(0.9 * 0.1 / 1000)
    local hist, timeline = steady(function(i) return (i * 37 % 100 + 1) / 1000 end)
    local low, high, deff = intervals.of(hist, timeline, 0.9)
    -- 0.9 -+ 1.96 * 0.00949 = 0.8814 and 0.9186: the values at these ranks
    assert.near(0.089, low, 1e-9)
    assert.near(0.092, high, 1e-9)
    assert.equal(1, deff)
  end)

  it("is wide where the run has drifted", function()
    local hist, timeline = steady(function(i) return i / 1000 end)
    local low, high, deff = intervals.of(hist, timeline, 0.5)
    assert.is_true(low < 0.05 and (not high or high > 0.95))
    assert.is_true(deff > 100)
  end)

  it("has no upper end beyond the largest value", function()
    local hist, timeline = steady(function(i) return (i * 37 % 100 + 1) / 1000 end)
    local _, high = intervals.of(hist, timeline, 0.999)
    assert.is_nil(high)
  end)

  it("does not exist without ten batches", function()
    local hist, timeline = queue.figures({ 0.01, 0.02, 0.9 }, { 1, 2, 3 }, 1, 100)
    assert.is_nil(intervals.of(hist, timeline, 0.5))
    hist, timeline = queue.figures({ 0.01, 0.02, 0.9 }, { 1, 2, 3 }, 1, 5)
    assert.is_nil(intervals.of(hist, timeline, 0.5))
  end)

  it("reaches down to what the server alone may have taken", function()
    local hist, timeline = steady(function(i) return (i * 37 % 100 + 1) / 1000 end)
    local net = steady(function(i) return (i * 37 % 100 + 1) / 2000 end)
    local low = intervals.of(hist, timeline, 0.9, nil, net)
    assert.near(0.0445, low, 1e-9)
  end)
end)
