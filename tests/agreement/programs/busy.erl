%% CPU-bound: recursion, sorting with a function, exceptions, messages between processes.
-module(busy).
-export([main/0]).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

fails(0) -> throw(thrown);
fails(N) -> 1 + fails(N - 1).

echo() -> receive {From, N} -> From ! N, echo() end.

work(Other) ->
    fib(15),
    Numbers = [I * 7919 rem 1009 || I <- lists:seq(1, 500)],
    lists:sort(fun(A, B) -> A =< B end, Numbers),
    catch fails(5),
    Other ! {self(), 1},
    receive 1 -> ok end,
    length(lists:flatten(io_lib:format("~p", [Numbers]))).

loop(_, 0) -> ok;
loop(Other, N) -> work(Other), loop(Other, N - 1).

main() -> loop(spawn(fun echo/0), 10000000).
