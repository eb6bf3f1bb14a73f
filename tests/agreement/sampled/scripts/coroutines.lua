-- Coroutines: a pipeline of generators, where each resume is on the C stack of the one before, and
-- recursive ones that walk a tree.
local seconds = tonumber((...)) or 1
local start = os.clock()

local function numbers(n)
    return coroutine.wrap(function()
        for i = 2, n do coroutine.yield(i) end
    end)
end

local function without_multiples(source, prime)
    return coroutine.wrap(function()
        for i in source do
            if i % prime ~= 0 then coroutine.yield(i) end
        end
    end)
end

-- The sieve of Eratosthenes: one more coroutine for every prime.
local function primes(n)
    local list, source = {}, numbers(n)
    while true do
        local prime = source()
        if not prime then return list end
        list[#list + 1] = prime
        source = without_multiples(source, prime)
    end
end

local function permutations(list, n)
    if n <= 1 then
        coroutine.yield(list)
        return
    end
    for i = 1, n do
        list[n], list[i] = list[i], list[n]
        permutations(list, n - 1)
        list[n], list[i] = list[i], list[n]
    end
end

local function tree(depth)
    if depth == 0 then return nil end
    return { tree(depth - 1), depth, tree(depth - 1) }
end

local function inorder(node)
    return coroutine.wrap(function()
        if not node then return end
        for depth in inorder(node[1]) do coroutine.yield(depth) end
        coroutine.yield(node[2])
        for depth in inorder(node[3]) do coroutine.yield(depth) end
    end)
end

repeat
    local list = primes(150)
    assert(#list == 35 and list[35] == 149)

    local count = 0
    for _ in coroutine.wrap(function() permutations({ 1, 2, 3, 4, 5 }, 5) end) do count = count + 1 end
    assert(count == 120)

    local sum = 0
    for depth in inorder(tree(6)) do sum = sum + depth end
    assert(sum == 120)
until os.clock() - start >= seconds
