--  CPU-bound: recursion, a generic sort, exceptions, a task.
with Ada.Containers.Vectors;
with Ada.Calendar; use Ada.Calendar;

procedure Busy is
   package Vectors is new Ada.Containers.Vectors (Positive, Integer);
   package Sorting is new Vectors.Generic_Sorting;
   Failure : exception;
   Stop : constant Time := Clock + 300.0;

   function Fib (N : Integer) return Integer is
     (if N < 2 then N else Fib (N - 1) + Fib (N - 2));

   function Fails (N : Integer) return Integer is
   begin
      if N = 0 then
         raise Failure with "thrown";
      end if;
      return 1 + Fails (N - 1);
   end Fails;

   procedure Work is
      V : Vectors.Vector;
      Sum : Integer := Fib (15);
   begin
      for I in 1 .. 500 loop
         V.Append (I * 7919 mod 1009);
      end loop;
      Sorting.Sort (V);
      for I in 1 .. 100 loop
         begin
            Sum := Sum + Fails (I mod 8);
         exception
            when Failure => Sum := Sum + 1;
         end;
      end loop;
      for N of V loop
         Sum := Sum + Integer'Image (N)'Length;
      end loop;
   end Work;

   task type Worker;
   task body Worker is
   begin
      while Clock < Stop loop
         Work;
      end loop;
   end Worker;

   Other : Worker;
begin
   while Clock < Stop loop
      Work;
   end loop;
end Busy;
