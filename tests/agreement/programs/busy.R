# CPU-bound: recursion, sorting, closures, conditions, matrices.
fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
fails <- function(n) if (n == 0) stop("thrown") else 1 + fails(n - 1)

end <- Sys.time() + 300
sum <- 0
while (Sys.time() < end) {
  sum <- sum + fib(12)
  x <- sapply(1:500, function(i) (i * 7919) %% 1009)
  x <- x[order(x)]
  for (i in 1:5) sum <- sum + tryCatch(fails(i), error = function(e) 1)
  m <- matrix(x[1:400], 20) + diag(20) * 5000
  sum <- sum + sum(solve(m)) + length(strsplit(paste(x, collapse = " "), " ")[[1]])
  fit <- lm(x ~ seq_along(x))
  sum <- sum + coef(fit)[1]
}
print(is.finite(sum))
