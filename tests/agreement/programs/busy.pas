{ CPU-bound: recursion, sorting with a callback, strings, exceptions. }
program busy;
{$mode objfpc}{$H+}
uses cthreads, SysUtils, Classes; { cthreads: by way of libc, so that it can be preloaded into }

function Fib(n: Integer): Integer;
begin
  if n < 2 then Result := n else Result := Fib(n - 1) + Fib(n - 2);
end;

function Fails(n: Integer): Integer;
begin
  if n = 0 then raise Exception.Create('thrown');
  try
    Result := 1 + Fails(n - 1);
  finally
    Result := n;
  end;
end;

function Compare(a, b: Pointer): Integer;
begin
  Result := PtrInt(a) - PtrInt(b);
end;

var
  stop: TDateTime;
  sum, i: Integer;
  list: TList;
  text: string;
begin
  sum := 0;
  stop := Now + 300 / 86400;
  while Now < stop do
  begin
    sum := (sum + Fib(15)) mod 1000003;
    list := TList.Create;
    for i := 1 to 500 do list.Add(Pointer(PtrInt(i * 7919 mod 1009)));
    list.Sort(@Compare);
    for i := 1 to 100 do
      try
        sum := sum + Fails(i mod 8);
      except
        on Exception do Inc(sum);
      end;
    text := '';
    for i := 0 to 499 do text := text + IntToStr(PtrInt(list[i])) + ' ';
    sum := sum + Length(text);
    list.Free;
  end;
  WriteLn(sum > 0);
end.
