# CPU-bound: recursion, sorting with a block, exceptions, fibers, text.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

def fails(n) = n.zero? ? raise("thrown") : fails(n - 1) + 1

10_000_000.times do
  fib(12)
  numbers = (1..500).map { |i| i * 7919 % 1009 }
  numbers.sort { |a, b| a <=> b }
  begin
    fails(5)
  rescue RuntimeError
    nil
  end
  fiber = Fiber.new { 20.times { |i| Fiber.yield i } }
  20.times { fiber.resume }
  numbers.join(" ").scan(/[0-9]+/).size
end
