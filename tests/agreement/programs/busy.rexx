/* CPU-bound: recursion, text, numbers of any length, conditions. */
numeric digits 30
do i = 1 to 10000000
  sum = fib(12) + i ** 3 / 7
  text = ''
  do k = 1 to 100
    text = text (k * 7919 // 1009)
  end
  sum = sum + words(text) + length(translate(reverse(text), 'abc', '123'))
  call fails 5
end
exit

fib: procedure
  parse arg n
  if n < 2 then return n
  return fib(n - 1) + fib(n - 2)

fails: procedure
  parse arg n
  signal on syntax
  if n > 0 then return fails(n - 1)
  return 1 / 0
syntax:
  return 0
