-- From the slots of a case to its verdicts: which rounds count, what is compared, what cannot be.
local figures = require "luabench.compare.figures"
local statistics = require "luabench.compare.statistics"
local verdict = require "luabench.compare.verdict"

local judge = {}

--- What is compared, by the model of the case; the first decides, the others are there to explore.
judge.MEASURES = { closed = { "rate", "p50", "p99", "cpu", "memory" }, open = { "p99", "p50", "cpu", "memory" } }

-- The rounds in which both targets were measured, and luabench kept up with itself: otherwise the round counts for none of them.
local function common(rounds, pair)
  local base, other = {}, {}
  for _, round in ipairs(rounds) do
    if round[pair[1]] and round[pair[2]] and not round.dropped then base[#base + 1], other[#other + 1] = round[pair[1]], round[pair[2]] end
  end
  return base, other
end

local function values_of(slots, read, ...)
  local values = {}
  for i, slot in ipairs(slots) do values[i] = read(slot, ...) or false end
  return values
end

local function names_of(targets, pair)
  return { base = targets[pair[1]].name, other = targets[pair[2]].name }
end

local function dropped_words(rounds)
  local count, why = 0, nil
  for _, round in ipairs(rounds) do
    if round.dropped then count, why = count + 1, why or round.dropped end
  end
  return count > 0 and ("; %d dropped, since %s"):format(count, why) or ""
end

-- Why a pair cannot be judged, or nil.
local function hindrance(base, least, targets, pair, rounds)
  for _, index in ipairs(pair) do
    if targets[index].lost then return ("%s %s"):format(targets[index].name, targets[index].lost) end
  end
  if #base < least then return ("%d whole round%s, and %d are needed%s"):format(#base, #base == 1 and "" or "s", least, dropped_words(rounds)) end
end

local function ratio_of(base, other, key, comparisons)
  local a, b = values_of(base, figures.measure, key), values_of(other, figures.measure, key)
  for i = 1, #a do
    if not a[i] or not b[i] then return nil end
  end
  return statistics.ratio(a, b, comparisons)
end

-- One measure over all pairs at once, since the more there are, the more has to be asked of each.
local function judge_measure(key, pairs_left, targets, comparisons)
  local ps, out = {}, {}
  for i, each in ipairs(pairs_left) do
    each.result = ratio_of(each.base, each.other, key, comparisons)
    ps[i] = each.result and each.result.p or 1
  end
  local adjusted = statistics.holm(ps)
  for i, each in ipairs(pairs_left) do
    if each.result then out[#out + 1] = verdict.of(key, names_of(targets, each.pair), each.result, adjusted[i]) end
  end
  return out
end

-- The pairs whose figures may be compared; verdicts on the others go to `out`.
local function comparable(rounds, targets, pairs_of, main, out)
  local left, least = {}, statistics.fewest_blocks(#pairs_of)
  for _, pair in ipairs(pairs_of) do
    local names, base, other = names_of(targets, pair), common(rounds, pair)
    local why = hindrance(base, least, targets, pair, rounds)
    local failures = not why and verdict.failures(names, statistics.failures(values_of(base, figures.failures), values_of(other, figures.failures), #pairs_of))
    if why then
      out[#out + 1] = verdict.invalid(main, names, why)
    elseif failures then
      out[#out + 1] = failures
    else
      left[#left + 1] = { pair = pair, base = base, other = other }
    end
  end
  return left
end

--- Puts what the twin of the baseline shows in the place of its verdicts. `twin`: its name, or nil.
function judge.noise(said, twin)
  for _, each in ipairs(twin and said or {}) do
    if each.other == twin then
      local differs
      each.text, differs = verdict.noise(each)
      if differs then each.kind = "invalid" end
    end
  end
  return said
end

--- The verdicts on a case, the deciding ones first (`primary`). `rounds`: list of slots by index of target (figures.take), one without a slot where it was not measured;
--- `targets`: list of { name, lost (why it was given up, or nil) }; `pairs_of`: list of { base, other } indexes.
function judge.case(rounds, targets, pairs_of, model)
  local out, measures = {}, judge.MEASURES[model]
  local left = comparable(rounds, targets, pairs_of, measures[1], out)
  for _, key in ipairs(measures) do
    local said = judge_measure(key, left, targets, #pairs_of)
    if key == measures[1] and #said < #left then
      for _, each in ipairs(left) do
        if not each.result then out[#out + 1] = verdict.invalid(key, names_of(targets, each.pair), figures.why_not(each.base, each.other, key)) end
      end
    end
    for _, each in ipairs(said) do out[#out + 1] = each end
  end
  for _, each in ipairs(out) do each.primary = each.metric == measures[1] or each.metric == "failures" end
  return out
end

return judge
