-- CPU-bound: recursion, sorting with a function, strings, exceptions.
module Main where

import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import qualified Data.Map.Strict as Map
import System.CPUTime

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

failing :: Int -> IO Int
failing n = do
  when (n == 0) $ throwIO (userError "thrown")
  m <- failing (n - 1) `finally` return ()
  return (m + 1)

work :: IORef Int -> Int -> IO ()
work sum' seed = do
  let numbers = sortBy (\a b -> compare a b) [(i + seed) * 7919 `mod` 1009 | i <- [1 .. 500]]
  caught <- forM [1 .. 5 :: Int] $ \i -> failing i `catch` \e -> return (length (show (e :: IOException)))
  n <- evaluate (fib (15 + seed `mod` 2) + length (unwords (map show numbers)))
  let m = Map.fromList (zip numbers (map show numbers))
  modifyIORef' sum' (+ (n + sum caught + Map.size m))

main :: IO ()
main = do
  sum' <- newIORef 0
  let loop seed = do
        now <- getCPUTime
        when (now < 300 * 1000000000000) $ work sum' seed >> loop (seed + 1)
  loop (0 :: Int)
  readIORef sum' >>= print . (> 0)
