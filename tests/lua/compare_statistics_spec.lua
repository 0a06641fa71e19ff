-- luabench.compare.statistics and .verdict, against tables, closed forms and simulated rounds.
local statistics = require "luabench.compare.statistics"
local verdict = require "luabench.compare.verdict"

-- A generator of the test's own (Park and Miller 1988), so that every run sees the same numbers.
local function normals(seed)
  local state = seed
  local function uniform()
    state = state * 16807 % 2147483647
    return state / 2147483647
  end
  return function() return math.sqrt(-2 * math.log(uniform())) * math.cos(2 * math.pi * uniform()) end
end

-- P(W <= t) by trying every choice of signs.
local function brute_force(n, t)
  local count = 0
  for choice = 0, 2 ^ n - 1 do
    local sum, rest = 0, choice
    for rank = 1, n do
      if rest % 2 == 1 then sum = sum + rank end
      rest = math.floor(rest / 2)
    end
    if sum <= t then count = count + 1 end
  end
  return count / 2 ^ n
end

describe("the signed-rank law", function()
  it("is what counting all signs gives", function()
    for n = 1, 10 do
      for _, t in ipairs { 0, 1, 3, 8, 10, n * (n + 1) / 2 } do assert.near(brute_force(n, t), statistics.signed_rank(n, t), 1e-12) end
    end
  end)
  it("has the critical values of the published tables", function()
    -- two-sided 5%: Hollander and Wolfe, table A.4; the numbers are those of measurement.md, too
    local critical = { [6] = 0, [7] = 2, [8] = 3, [9] = 5, [10] = 8, [12] = 13, [15] = 25, [20] = 52 }
    for n, t in pairs(critical) do
      assert.is_true(statistics.signed_rank(n, t) <= 0.025)
      assert.is_true(statistics.signed_rank(n, t + 1) > 0.025)
    end
  end)
  it("says how many rounds a verdict needs", function()
    for comparisons, blocks in pairs { [1] = 6, [2] = 7, [3] = 7, [4] = 8, [6] = 8, [7] = 9, [12] = 9 } do
      assert.equal(blocks, statistics.fewest_blocks(comparisons))
    end
  end)
end)

describe("statistics.center", function()
  it("is the median of the Walsh averages, between its order statistics", function()
    -- Hollander and Wolfe, example 3.1 (Hamilton depression scale): estimate -0.46, p (one-sided 0.020) 0.039
    local d = { 0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68, 1.29 - 1.88, 1.06 - 1.55, 3.14 - 3.06, 1.29 - 1.30 }
    local center, low, high, p = statistics.center(d)
    assert.near(-0.46, center, 0.005)
    assert.near(0.039, p, 0.001)
    assert.is_true(low < center and high < 0.01)
  end)
  it("has no bounds when there are too few blocks for the level", function()
    local _, low, high, p = statistics.center { 1, 2, 3, 4, 5 }
    assert.equal(-math.huge, low)
    assert.equal(math.huge, high)
    assert.equal(2 / 32, p)
  end)
end)

describe("Student's t", function()
  it("has the published critical values", function()
    for df, t in pairs { [1] = 12.706, [4] = 2.776, [9] = 2.262, [30] = 2.042 } do assert.near(0.05, statistics.student_p(t, df), 5e-5) end
    assert.near(1, statistics.student_p(0, 7), 1e-12)
  end)
end)

describe("statistics.holm", function()
  it("multiplies as Holm's example does", function()
    local adjusted = statistics.holm { 0.01, 0.04, 0.03, 0.005 }
    for i, expected in ipairs { 0.03, 0.06, 0.06, 0.02 } do assert.near(expected, adjusted[i], 1e-12) end
  end)
end)

-- Rounds of two targets: a machine that drifts, the noise of a slot, and a difference.
local function simulate(random, rounds, difference, noise, drift)
  local base, other = {}, {}
  for i = 1, rounds do
    local machine = 1000 * (1 + (drift or 0) * i / rounds)
    base[i] = machine * math.exp(noise * random())
    other[i] = machine * (1 + difference) * math.exp(noise * random())
  end
  return statistics.ratio(base, other)
end

local function share(runs, test)
  local hits = 0
  for _ = 1, runs do
    if test() then hits = hits + 1 end
  end
  return hits / runs
end

local NAMES = { base = "node", other = "deno" }

describe("simulated comparisons", function()
  it("of a server with itself are wrong in about 5 of 100", function()
    local random = normals(20021)
    local wrong = share(2000, function()
      local kind = verdict.of("rate", NAMES, simulate(random, 10, 0, 0.03)).kind
      return kind == "better" or kind == "worse"
    end)
    assert.is_true(wrong >= 0.03 and wrong <= 0.06, "false verdicts: " .. wrong)
  end)
  it("of a server 2% faster find it in nine of ten, with ten rounds", function()
    local random = normals(77)
    local found = share(2000, function() return verdict.of("rate", NAMES, simulate(random, 10, 0.02, 0.011)).kind == "better" end)
    assert.is_true(found >= 0.9, "found: " .. found)
  end)
  it("are not misled by a machine that becomes half as slow again", function()
    local random = normals(4711)
    local wrong = share(1000, function()
      local kind = verdict.of("rate", NAMES, simulate(random, 10, 0, 0.03, 0.5)).kind
      return kind == "better" or kind == "worse"
    end)
    assert.is_true(wrong <= 0.065, "false verdicts: " .. wrong)
    random = normals(4712)
    local found = share(1000, function() return verdict.of("rate", NAMES, simulate(random, 10, 0.02, 0.011, 0.5)).kind == "better" end)
    assert.is_true(found >= 0.9, "found: " .. found)
  end)
  it("hold the true ratio in 95 of 100 intervals", function()
    local random = normals(99)
    local covered = share(2000, function()
      local result = simulate(random, 10, 0.1, 0.05)
      return result.low <= 1.1 and result.high >= 1.1
    end)
    assert.is_true(covered >= 0.94 and covered <= 0.97, "covered: " .. covered)
  end)
end)

-- Lists with exactly these ratios.
local function exact(ratios)
  local base, other = {}, {}
  for i, ratio in ipairs(ratios) do base[i], other[i] = 100, 100 * ratio end
  return statistics.ratio(base, other)
end

describe("verdict.of", function()
  it("names each of the five cases", function()
    local cases = {
      { "rate", { 1.10, 1.11, 1.09, 1.10, 1.12, 1.08, 1.10 }, "better", "deno is faster than node: requests/s 10.0% higher" },
      { "p99", { 1.10, 1.11, 1.09, 1.10, 1.12, 1.08, 1.10 }, "worse", "deno is slower than node: p99 latency 10.0% higher" },
      { "cpu", { 0.8, 0.81, 0.79, 0.8, 0.82, 0.78, 0.8 }, "better", "deno is better than node: CPU time a request 20.0% lower" },
      { "rate", { 1.005, 1.006, 1.004, 1.005, 1.007, 1.003, 1.005 }, "differs_little", "deno differs from node, but by less than 2%" },
      { "rate", { 1.001, 0.999, 1.002, 0.998, 1.003, 0.997, 1.0005 }, "equivalent", "deno and node are equivalent within 2%" },
      { "rate", { 1.1, 0.9, 1.2, 0.85, 1.05, 0.97, 1.0 }, "no_difference", "no difference shown between deno and node" },
    }
    for _, case in ipairs(cases) do
      local said = verdict.of(case[1], NAMES, exact(case[2]))
      assert.equal(case[3], said.kind)
      assert.truthy(said.text:find(case[4], 1, true), said.text)
    end
  end)
  it("says how large a difference would have shown, and how many rounds the margin takes", function()
    local said = verdict.of("rate", NAMES, exact { 1.1, 0.9, 1.2, 0.85, 1.05, 0.97, 1.0 })
    assert.truthy(said.text:find("a difference of %d+%.%d%% would have shown; it would take more than 100 rounds to settle 2%%"), said.text)
  end)
  it("is void when a figure is missing, zero or infinite in a round", function()
    assert.is_nil(statistics.ratio({ 1, 2, 3 }, { 1, math.huge, 3 }))
    assert.is_nil(statistics.ratio({ 1, 0, 3 }, { 1, 2, 3 }))
    assert.is_nil(statistics.ratio({ 1, 2 }, { 1 }))
  end)
end)

describe("verdict.noise", function()
  it("is half the interval of a target against itself", function()
    local said = verdict.of("rate", NAMES, exact { 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0 })
    local text, differs = verdict.noise(said)
    assert.is_nil(differs)
    assert.truthy(text:find("node against itself: no difference in requests/s, to within %d+%.%d%%"), text)
  end)
  it("is a warning when they differ", function()
    local text, differs = verdict.noise(verdict.of("rate", NAMES, exact { 1.10, 1.11, 1.09, 1.10, 1.12, 1.08, 1.10 }))
    assert.is_true(differs)
    assert.truthy(text:find("no verdict is to be trusted", 1, true))
  end)
end)

describe("verdict.failures", function()
  local function lists(a, b)
    local base, other = {}, {}
    for i = 1, 8 do base[i], other[i] = { a + i % 2, 1000 }, { b + i % 3, 1000 } end
    return statistics.failures(base, other)
  end
  it("stands in when they are unequal beyond 0.1 points", function()
    local said = verdict.failures(NAMES, lists(1, 40))
    assert.equal("worse", said.kind)
    assert.truthy(said.text:find("deno fails more than node: +3.96 points", 1, true), said.text)
  end)
  it("does not when they are about the same", function()
    assert.is_nil(verdict.failures(NAMES, lists(1, 1)))
    assert.is_nil(verdict.failures(NAMES, lists(0, 0)))
  end)
end)
