-- What scripts have of Lua itself: the white list of the sandbox, by library ("": globals). A test holds it against the sandbox.
return {
  { "", "assert collectgarbage error getmetatable ipairs load loadstring next pairs pcall print rawequal rawget rawset require select setmetatable tonumber tostring type unpack xpcall _G _VERSION" },
  { "bit", "arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex" },
  { "coroutine", "create isyieldable resume running status wrap yield" },
  { "debug", "getinfo traceback" },
  { "io", "close input lines open output popen read tmpfile type write" },
  { "jit", "arch os version version_num" },
  { "math", "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad random randomseed sin sinh sqrt tan tanh" },
  { "os", "clock date difftime execute exit getenv remove rename setlocale time tmpname" },
  { "string", "byte char find format gmatch gsub len lower match rep reverse sub upper" },
  { "table", "concat foreach foreachi getn insert maxn move remove sort" },
}
