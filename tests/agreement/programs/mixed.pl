# Hashes, sorting with a callback, regular expressions.
my %h;
for my $i (1 .. 30000) { $h{$i % 97} .= "x$i"; }
my @s = sort { $h{$a} cmp $h{$b} } keys %h;
my $n = 0;
for (@s) { $n += () = $h{$_} =~ /x(\d+)5/g; }
print "$n\n";
