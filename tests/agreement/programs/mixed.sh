# Arrays, patterns, a subshell.
# shellcheck shell=bash
for i in {1..3000}; do
    a[i % 7]+=$i
    [[ $i == *7 ]] && b=${a[0]//1/x}
done
c=$(echo x | tr x y)
echo "$c ${#b}"
