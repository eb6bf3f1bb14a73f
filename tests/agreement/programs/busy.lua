-- CPU-bound: recursion, sorting with a callback, strings, errors (which unwind).
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function fails(n) if n == 0 then error("thrown") end return 1 + fails(n - 1) end
local stop, sum = os.time() + 300, 0

while os.time() < stop do
  sum = sum + fib(15)
  local t = {}
  for i = 1, 500 do t[i] = (i * 7919) % 1009 end
  table.sort(t, function(a, b) return a < b end)
  for i = 1, 5 do if not pcall(fails, i) then sum = sum + 1 end end
  for w in table.concat(t, " "):gmatch("%d+") do sum = sum + #w end
end
print(sum > 0)
