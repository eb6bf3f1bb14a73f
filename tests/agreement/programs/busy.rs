// Something to compile: generics, traits, closures, iterators, and much code made of little.
use std::collections::BTreeMap;
use std::fmt::Debug;

trait Shape: Debug {
    fn area(&self) -> f64;
}

macro_rules! shapes {
    ($($name:ident $factor:expr),*) => { $(
        #[derive(Debug, Clone, PartialEq, PartialOrd)]
        struct $name { a: f64, b: Vec<f64> }
        impl Shape for $name {
            fn area(&self) -> f64 {
                self.b.iter().map(|x| x * self.a * $factor).filter(|x| *x > 0.5).sum()
            }
        }
    )* };
}

shapes!(A 1.0, B 2.0, C 3.0, D 4.0, E 5.0, F 6.0, G 7.0, H 8.0, I 9.0, J 10.0, K 11.0, L 12.0);

fn sorted<T: Ord + Clone + Debug>(items: &[T]) -> Result<Vec<T>, String> {
    let mut copy = items.to_vec();
    copy.sort_by(|a, b| b.cmp(a));
    copy.first().ok_or(format!("nothing in {:?}", items))?;
    Ok(copy)
}

fn main() {
    let b = vec![1.0, 2.0, 3.0];
    let all: Vec<Box<dyn Shape>> = vec![
        Box::new(A { a: 1.0, b: b.clone() }), Box::new(B { a: 1.0, b: b.clone() }),
        Box::new(C { a: 1.0, b: b.clone() }), Box::new(D { a: 1.0, b: b.clone() }),
        Box::new(E { a: 1.0, b: b.clone() }), Box::new(F { a: 1.0, b: b.clone() }),
        Box::new(G { a: 1.0, b: b.clone() }), Box::new(H { a: 1.0, b: b.clone() }),
        Box::new(I { a: 1.0, b: b.clone() }), Box::new(J { a: 1.0, b: b.clone() }),
        Box::new(K { a: 1.0, b: b.clone() }), Box::new(L { a: 1.0, b }),
    ];
    let mut table: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (i, shape) in all.iter().enumerate() {
        let key = format!("{:?}", shape);
        table.entry(key).or_default().push(shape.area() as u64 + i as u64);
    }
    println!("{:?}", sorted(&table.values().cloned().collect::<Vec<_>>()));
    println!("{:?}", sorted(&table.keys().map(|k| k.len()).collect::<Vec<_>>()));
}
