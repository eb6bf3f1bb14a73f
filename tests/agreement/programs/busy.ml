(* CPU-bound: recursion, sorting with a closure, strings, exceptions, calls into C. *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let rec fails n = if n = 0 then failwith "thrown" else 1 + fails (n - 1)

let () =
  let sum = ref 0 and stop = Sys.time () +. 300.0 in
  while Sys.time () < stop do
    sum := !sum + fib 15;
    let l = List.init 500 (fun i -> i * 7919 mod 1009) in
    let l = List.sort (fun a b -> compare a b) l in
    for i = 1 to 100 do
      (try sum := !sum + fails (i mod 8) with Failure _ -> incr sum)
    done;
    sum := !sum + String.length (String.concat " " (List.map string_of_int l));
    sum := !sum + Hashtbl.hash l
  done;
  Printf.printf "%b\n" (!sum > 0)
