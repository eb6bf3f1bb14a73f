# CPU-bound: recursion, sorting with a block, errors that unwind, strings.
use strict;
use warnings;

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub fails { my $n = shift; die "thrown\n" if $n == 0; return 1 + fails($n - 1) }

my $sum = 0;
for (my $end = time + 300; time < $end;) {
    $sum += fib(12);
    my @sorted = sort { $a <=> $b } map { $_ * 7919 % 1009 } 1 .. 500;
    $sum += eval { fails($_) } // 1 for 1 .. 5;
    $sum += () = join(' ', @sorted) =~ /\d+/g;
}
print $sum > 0 ? "true\n" : "false\n";
