(* CPU-bound: recursion, sorting with a function, exceptions, text. *)
exception Thrown
fun fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
fun fails 0 = raise Thrown | fails n = 1 + fails (n - 1)
fun insert (x, []) = [x] | insert (x, y :: r) = if x < y then x :: y :: r else y :: insert (x, r)
fun numbers () = List.tabulate (100, fn i => i * 7919 mod 1009)
fun work () =
    (ignore (fib 15); ignore (foldl insert [] (numbers ()));
     ignore (fails 5 handle Thrown => 0); ignore (String.concatWith " " (map Int.toString (numbers ()))))
fun loop 0 = () | loop n = (work (); loop (n - 1));
loop 10000000;
