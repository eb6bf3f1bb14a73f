-- Sorting with a callback, patterns, coroutines, errors (which are longjmp).
local t = {}
for i = 1, 20000 do t[i] = (i * 7919) % 1009 end
table.sort(t, function(a, b) return a < b end)
local s = 0
for w in (("word "):rep(3000)):gmatch("%a+") do s = s + #w end
local co = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i) end end)
for _ = 1, 1000 do s = s + co() end
for _ = 1, 500 do pcall(error, "x") end
print(s)
