//! The variants of an enumeration as its reader knows them: what `serde` derives, so that none can be forgotten here.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize,
    de::{
        Error, IntoDeserializer,
        value::{MapDeserializer, StrDeserializer},
    },
};

/// The error of a reader that was given an unknown variant: the variants that it knows.
#[derive(Debug)]
struct Known(&'static [&'static str]);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "known: {:?}", self.0)
    }
}

impl std::error::Error for Known {}

impl Error for Known {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("the reader asks for something else than a variant: {message}")
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self(known)
    }
}

/// The types of events of an enumeration that is told apart by `type`.
pub(crate) fn tagged<T: Deserialize<'static> + fmt::Debug>() -> BTreeSet<&'static str> {
    let reader: MapDeserializer<'static, _, Known> = MapDeserializer::new([("type", "?")].into_iter());
    T::deserialize(reader).expect_err("no variant has this name").0.iter().copied().collect()
}

/// The values of an enumeration that is written as a text.
pub(crate) fn plain<T: Deserialize<'static> + fmt::Debug>() -> BTreeSet<&'static str> {
    let reader: StrDeserializer<'static, Known> = "?".into_deserializer();
    T::deserialize(reader).expect_err("no variant has this name").0.iter().copied().collect()
}
