-- MD5 (RFC 1321): digest authentication asks for it.
local band, bor, bnot, bxor, rol, tobit = bit.band, bit.bor, bit.bnot, bit.bxor, bit.rol, bit.tobit
local byte, char, rep, format = string.byte, string.char, string.rep, string.format

local SINES, SHIFTS = {}, { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } }
for i = 1, 64 do SINES[i] = tobit(math.floor(math.abs(math.sin(i)) * 2 ^ 32)) end

-- The four rounds: what is mixed of b, c and d, and which word of the block.
local MIX = {
  function(b, c, d, i) return bor(band(b, c), band(bnot(b), d)), i end,
  function(b, c, d, i) return bor(band(d, b), band(bnot(d), c)), (5 * i + 1) % 16 end,
  function(b, c, d, i) return bxor(b, c, d), (3 * i + 5) % 16 end,
  function(b, c, d, i) return bxor(c, bor(b, bnot(d))), 7 * i % 16 end,
}

local words = {}

local function read_block(text, position)
  for i = 0, 15 do
    local a, b, c, d = byte(text, position + 4 * i, position + 4 * i + 3)
    words[i] = tobit(a + b * 2 ^ 8 + c * 2 ^ 16 + d * 2 ^ 24)
  end
end

local function add_block(a, b, c, d)
  local a0, b0, c0, d0 = a, b, c, d
  for i = 0, 63 do
    local round = (i - i % 16) / 16 + 1
    local mixed, k = MIX[round](b, c, d, i)
    local turned = rol(tobit(a + mixed + SINES[i + 1] + words[k]), SHIFTS[round][i % 4 + 1])
    a, b, c, d = d, tobit(b + turned), b, c
  end
  return tobit(a0 + a), tobit(b0 + b), tobit(c0 + c), tobit(d0 + d)
end

-- The number in bytes, the lowest first.
local function little_endian(number, size)
  local text = ""
  for _ = 1, size do
    text = text .. char(number % 256)
    number = math.floor(number / 256)
  end
  return text
end

local function hex(word)
  return (little_endian(word % 2 ^ 32, 4):gsub(".", function(c) return format("%02x", byte(c)) end))
end

--- The digest of a text, as 32 hexadecimal digits.
return function(text)
  local padded = text .. "\128" .. rep("\0", (55 - #text) % 64) .. little_endian(#text * 8, 8)
  local a, b, c, d = 0x67452301, tobit(0xefcdab89), tobit(0x98badcfe), 0x10325476
  for position = 1, #padded, 64 do
    read_block(padded, position)
    a, b, c, d = add_block(a, b, c, d)
  end
  return hex(a) .. hex(b) .. hex(c) .. hex(d)
end
