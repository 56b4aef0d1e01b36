//! The table itself. A row is one unit; the order is that of the reference manual.

use super::{Dimension, Scale, Unit};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct UnitDef {
    /// As it is written.
    pub symbol: &'static str,
    /// As it is called.
    pub name: &'static str,
    /// The prefixes that it takes.
    pub prefixes: Prefixes,
    /// What it measures.
    pub dimension: Dimension,
    /// How much of the SI unit it is.
    pub scale: Scale,
    /// What is added after scaling.
    pub offset: f64,
}

impl UnitDef {
    /// The unit without prefix.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        Unit { dimension: self.dimension, scale: self.scale, offset: self.offset }
    }
}

/// The prefixes that a unit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefixes {
    /// None.
    No,
    /// Every decimal one.
    All,
    /// The decimal ones below one, in steps of a thousand: `m u n p f`.
    Small,
    /// The decimal ones above one in steps of a thousand, and the binary ones.
    Large,
}

/// A prefix.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// As it is written.
    pub symbol: &'static str,
    /// As it is called.
    pub name: &'static str,
    /// By what it multiplies.
    pub scale: Scale,
}

/// The decimal prefixes. `u` stands for micro.
pub const DECIMAL_PREFIXES: &[Prefix] = &[
    decimal("P", "peta", 15),
    decimal("T", "tera", 12),
    decimal("G", "giga", 9),
    decimal("M", "mega", 6),
    decimal("k", "kilo", 3),
    decimal("h", "hecto", 2),
    decimal("da", "deca", 1),
    decimal("d", "deci", -1),
    decimal("c", "centi", -2),
    decimal("m", "milli", -3),
    decimal("u", "micro", -6),
    decimal("n", "nano", -9),
    decimal("p", "pico", -12),
    decimal("f", "femto", -15),
];

/// The binary prefixes.
pub const BINARY_PREFIXES: &[Prefix] = &[
    Prefix { symbol: "Ki", name: "kibi", scale: fraction(1 << 10, 1) },
    Prefix { symbol: "Mi", name: "mebi", scale: fraction(1 << 20, 1) },
    Prefix { symbol: "Gi", name: "gibi", scale: fraction(1 << 30, 1) },
    Prefix { symbol: "Ti", name: "tebi", scale: fraction(1 << 40, 1) },
];

impl Prefixes {
    /// The decimal prefixes among them.
    pub fn decimal(self) -> impl Iterator<Item = &'static Prefix> {
        DECIMAL_PREFIXES.iter().filter(move |prefix| {
            let by_thousands = prefix.scale.ten % 3 == 0;
            match self {
                Self::No => false,
                Self::All => true,
                Self::Small => by_thousands && prefix.scale.ten < 0,
                Self::Large => by_thousands && prefix.scale.ten > 0,
            }
        })
    }

    /// The binary prefixes among them.
    pub fn binary(self) -> impl Iterator<Item = &'static Prefix> {
        BINARY_PREFIXES.iter().filter(move |_| self == Self::Large)
    }

    pub(super) fn scale_of(self, prefix: &str) -> Option<Scale> {
        self.decimal().chain(self.binary()).find(|known| known.symbol == prefix).map(|known| known.scale)
    }
}

const fn fraction(numerator: u64, denominator: u64) -> Scale {
    Scale { numerator, denominator, ten: 0, pi: 0 }
}

const fn power_of_ten(ten: i16) -> Scale {
    Scale { numerator: 1, denominator: 1, ten, pi: 0 }
}

const fn decimal(symbol: &'static str, name: &'static str, ten: i16) -> Prefix {
    Prefix { symbol, name, scale: power_of_ten(ten) }
}

/// A row. The exponents are those of `m kg s A K mol cd rad bit dBm dB`.
const fn unit(
    symbol: &'static str,
    name: &'static str,
    prefixes: Prefixes,
    exponents: [i8; 11],
    scale: Scale,
) -> UnitDef {
    UnitDef { symbol, name, prefixes, dimension: Dimension { exponents }, scale, offset: 0.0 }
}

const ONE: Scale = Scale::ONE;

/// Every unit. Not all words of physics: what stands in the telemetry and the telecommands of a spacecraft.
#[rustfmt::skip]
pub const UNITS: &[UnitDef] = &[
    // Durations first.
    unit("s",      "second",             Prefixes::Small, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],  ONE),
    unit("min",    "minute",             Prefixes::No,    [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],  fraction(60, 1)),
    unit("h",      "hour",               Prefixes::No,    [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],  fraction(3_600, 1)),
    unit("d",      "day",                Prefixes::No,    [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],  fraction(86_400, 1)),
    // The other base units of the SI. The kilogram is the gram with a prefix.
    unit("m",      "metre",              Prefixes::All,   [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  ONE),
    unit("g",      "gram",               Prefixes::All,   [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],  power_of_ten(-3)),
    unit("A",      "ampere",             Prefixes::All,   [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],  ONE),
    unit("K",      "kelvin",             Prefixes::All,   [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],  ONE),
    unit("mol",    "mole",               Prefixes::All,   [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],  ONE),
    unit("cd",     "candela",            Prefixes::All,   [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],  ONE),
    // Derived.
    unit("Hz",     "hertz",              Prefixes::All,   [0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("N",      "newton",             Prefixes::All,   [1, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("Pa",     "pascal",             Prefixes::All,   [-1, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("bar",    "bar",                Prefixes::All,   [-1, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], power_of_ten(5)),
    unit("J",      "joule",              Prefixes::All,   [2, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("eV",     "electronvolt",       Prefixes::All,   [2, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], Scale { numerator: 1_602_176_634, denominator: 1, ten: -28, pi: 0 }),
    unit("Wh",     "watt-hour",          Prefixes::All,   [2, 1, -2, 0, 0, 0, 0, 0, 0, 0, 0], fraction(3_600, 1)),
    unit("W",      "watt",               Prefixes::All,   [2, 1, -3, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("C",      "coulomb",            Prefixes::All,   [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0],  ONE),
    unit("Ah",     "ampere-hour",        Prefixes::All,   [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0],  fraction(3_600, 1)),
    unit("V",      "volt",               Prefixes::All,   [2, 1, -3, -1, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("F",      "farad",              Prefixes::All,   [-2, -1, 4, 2, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("ohm",    "ohm",                Prefixes::All,   [2, 1, -3, -2, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("S",      "siemens",            Prefixes::All,   [-2, -1, 3, 2, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("Wb",     "weber",              Prefixes::All,   [2, 1, -2, -1, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("T",      "tesla",              Prefixes::All,   [0, 1, -2, -1, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("H",      "henry",              Prefixes::All,   [2, 1, -2, -2, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("lm",     "lumen",              Prefixes::All,   [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0],  ONE),
    unit("lx",     "lux",                Prefixes::All,   [-2, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0], ONE),
    unit("Bq",     "becquerel",          Prefixes::All,   [0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("Gy",     "gray",               Prefixes::All,   [2, 0, -2, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("Sv",     "sievert",            Prefixes::All,   [2, 0, -2, 0, 0, 0, 0, 0, 0, 0, 0], ONE),
    unit("L",      "litre",              Prefixes::All,   [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  power_of_ten(-3)),
    unit("degC",   "degree Celsius",     Prefixes::No,    [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],  ONE).with_offset(273.15),
    // Angles.
    unit("rad",    "radian",             Prefixes::Small, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],  ONE),
    unit("sr",     "steradian",          Prefixes::Small, [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0],  ONE),
    unit("deg",    "degree",             Prefixes::Small, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],  Scale { numerator: 1, denominator: 180, ten: 0, pi: 1 }),
    unit("arcmin", "minute of arc",      Prefixes::No,    [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],  Scale { numerator: 1, denominator: 10_800, ten: 0, pi: 1 }),
    unit("arcsec", "second of arc",      Prefixes::Small, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],  Scale { numerator: 1, denominator: 648_000, ten: 0, pi: 1 }),
    unit("rpm",    "turns per minute",   Prefixes::No,    [0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0], Scale { numerator: 1, denominator: 30, ten: 0, pi: 1 }),
    // Information.
    unit("bit",    "bit",                Prefixes::Large, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0],  ONE),
    unit("B",      "byte",               Prefixes::Large, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0],  fraction(8, 1)),
    // Ratios and levels. A level converts into nothing else.
    unit("%",      "per cent",           Prefixes::No,    [0; 11],                            power_of_ten(-2)),
    unit("ppm",    "parts per million",  Prefixes::No,    [0; 11],                            power_of_ten(-6)),
    unit("dBm",    "decibel-milliwatt",  Prefixes::No,    [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],  ONE),
    unit("dB",     "decibel",            Prefixes::No,    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],  ONE),
];

impl UnitDef {
    const fn with_offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }
}
