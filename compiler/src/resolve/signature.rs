//! What a definition asks of its callers: its targets and inputs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{DUPLICATE, NOT_CONSTANT, UNKNOWN_PLATFORM, body::View, definitions::Header, names::Names, unread};
use crate::{
    catalogue::Catalogue,
    diagnostics::Diagnostic,
    expr::{self, Constant},
    source::Place,
    suggest::did_you_mean,
    tree::{GivenBy, Input, Local, Target},
    types::{Type, UNKNOWN_TYPE},
};

/// What a definition asks of its callers.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Its targets: name, and platform unless that was reported.
    pub(crate) targets: Vec<(Arc<str>, Option<u32>)>,
    /// Its inputs.
    pub(crate) inputs: Vec<Asked>,
    /// The place of each name: targets first, then inputs.
    pub(crate) slots: BTreeMap<Arc<str>, usize>,
}

impl Signature {
    fn new(targets: Vec<(Arc<str>, Option<u32>)>, inputs: Vec<Asked>) -> Self {
        let names = targets.iter().map(|(name, _)| name).chain(inputs.iter().map(|input| &input.name));
        let mut slots = BTreeMap::new();
        for (slot, name) in names.enumerate() {
            slots.entry(name.clone()).or_insert(slot);
        }
        Self { targets, inputs, slots }
    }

    /// The names of its targets and inputs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.keys().map(|name| &**name)
    }

    /// The name of the target or input at a place.
    pub(crate) fn name(&self, slot: usize) -> &str {
        match self.targets.get(slot) {
            Some((name, _)) => name,
            None => self.inputs.get(slot.saturating_sub(self.targets.len())).map_or("", |input| &input.name),
        }
    }
}

/// An input that is asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its type; `None` where that was reported.
    pub(crate) ty: Option<Type>,
    /// Its default.
    pub(crate) default: Option<Constant>,
    /// Whether a default is written.
    pub(crate) has_default: bool,
}

impl Asked {
    /// As the typed tree has it.
    pub(crate) fn input(&self) -> Input {
        Input { default: self.default.clone(), has_default: self.has_default }
    }
}

/// The signature of a definition, and the names that it gives.
pub(crate) fn of(header: &Header<'_>, catalogue: &Catalogue, out: &mut Vec<Diagnostic>) -> (Signature, Names) {
    let mut names = Names::new(unread(header.ast));
    let mut targets = Vec::new();
    let place = |span| Place::new(header.file, span);
    for uses in &header.ast.uses {
        let name: Arc<str> = uses.name.text.as_str().into();
        let platform = uses.platform.as_ref().and_then(|named| platform(header, catalogue, named, out));
        targets.push((name.clone(), platform));
        let given = names.give_target(Target { name: name.clone(), span: uses.name.span, platform });
        if let Err(before) = given {
            out.push(taken(&name, place(uses.name.span), place(before)));
        }
    }
    let platforms: Vec<Option<u32>> = targets.iter().map(|(_, platform)| *platform).collect();
    let mut inputs = Vec::new();
    for input in &header.ast.inputs {
        let name: Arc<str> = input.name.text.as_str().into();
        let ty = input.ty.as_ref().and_then(|named| type_of(header, catalogue, &platforms, named, out));
        let default = default(header, catalogue, &names, input.default.as_ref(), ty.as_ref(), out);
        inputs.push(Asked { name: name.clone(), ty: ty.clone(), default, has_default: input.default.is_some() });
        let local = Local { name: name.clone(), span: input.name.span, ty, given_by: GivenBy::Input };
        if let (_, Some(before)) = names.give_local(local) {
            out.push(taken(&name, place(input.name.span), place(before)));
        }
    }
    (Signature::new(targets, inputs), names)
}

/// That a name is taken.
pub(super) fn taken(name: &str, place: Place, before: Place) -> Diagnostic {
    Diagnostic::new(&DUPLICATE, place, format!("the name `{name}` is given twice"))
        .label(before, "first here")
        .help("a name is given once, and not hidden while it is visible")
}

fn platform(
    header: &Header<'_>,
    catalogue: &Catalogue,
    named: &stellar_grammar::ast::Name,
    out: &mut Vec<Diagnostic>,
) -> Option<u32> {
    let found = catalogue.find(&named.text);
    if found.is_none() && !catalogue.incomplete {
        let message = format!("no catalogue describes the platform `{}`", named.text);
        let help = did_you_mean(&named.text, catalogue.platforms.iter().map(crate::catalogue::Platform::name));
        out.push(Diagnostic::new(&UNKNOWN_PLATFORM, Place::new(header.file, named.span), message).maybe_help(help));
    }
    found
}

/// The type of that name: a basic one, one of the platforms that the definition uses, else one of any platform.
fn type_of(
    header: &Header<'_>,
    catalogue: &Catalogue,
    used: &[Option<u32>],
    named: &stellar_grammar::ast::Name,
    out: &mut Vec<Diagnostic>,
) -> Option<Type> {
    if let Some(basic) = Type::basic(&named.text) {
        return Some(basic);
    }
    let own = used.iter().flatten().filter_map(|number| catalogue.get(*number));
    if let Some(found) = own.chain(&catalogue.platforms).find_map(|platform| platform.types.get(named.text.as_str())) {
        return found.clone();
    }
    if used.contains(&None) || catalogue.incomplete {
        return None;
    }
    let known: BTreeSet<&str> =
        catalogue.platforms.iter().flat_map(|platform| platform.types.keys()).map(|name| &**name).collect();
    let basic = Type::BASIC.iter().map(|(name, _)| *name);
    let message = format!("the type `{}` is not known", named.text);
    let help = did_you_mean(&named.text, basic.chain(known));
    out.push(Diagnostic::new(&UNKNOWN_TYPE, Place::new(header.file, named.span), message).maybe_help(help));
    None
}

fn default(
    header: &Header<'_>,
    catalogue: &Catalogue,
    names: &Names,
    written: Option<&stellar_grammar::ast::Expr>,
    ty: Option<&Type>,
    out: &mut Vec<Diagnostic>,
) -> Option<Constant> {
    let (written, ty) = written.zip(ty)?;
    let view = View { file: header.file, catalogue, names };
    let typed = expr::value_of(written, ty, &view, out)?;
    let constant = typed.constant().cloned();
    if constant.is_none() {
        let message = "a default has to be a constant, and this depends on something";
        out.push(Diagnostic::new(&NOT_CONSTANT, Place::new(header.file, written.span), message));
    }
    constant
}
