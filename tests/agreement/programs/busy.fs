\ CPU-bound: recursion, loops, exceptions, text.
: fib ( n -- f ) dup 2 < if exit then dup 1- recurse swap 2 - recurse + ;
: fails ( n -- ) dup 0= if 99 throw then 1- recurse ;
create numbers 500 cells allot
: fill-numbers 500 0 do i 7919 * 1009 mod numbers i cells + ! loop ;
: sum 0 500 0 do numbers i cells + @ + loop ;
: work 15 fib drop fill-numbers sum drop 5 ['] fails catch 2drop 123456789 0 <# #s #> 2drop ;
: main 100000000 0 do work loop ;
main bye
