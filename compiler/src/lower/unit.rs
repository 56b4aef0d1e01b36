//! A definition: its head, then its code.

use stellar_vm::{
    op::Op,
    program::{Input, Kind, LocalDef, TargetUse, Unit},
};

use super::{code::Code, tables::Tables};
use crate::{bounds::Figures, policy::Given, tree::Definition};

/// Writes a definition.
pub(super) fn unit(tables: &mut Tables<'_>, definition: &Definition, figures: &Figures) -> Option<Unit> {
    let unit = head(tables, definition, figures)?;
    let mut code = Code { tables, definition, figures, unit };
    let in_step = definition.kind == Kind::Step;
    code.block(&definition.body, in_step)?;
    if let Some(block) = &definition.on_failure {
        let at = code.emit(Op::OnFailure { end: 0 }, definition.on_failure_header);
        code.block(block, in_step)?;
        let end = code.here();
        code.patch(at, Op::OnFailure { end });
    }
    Some(code.unit)
}

fn head(tables: &mut Tables<'_>, definition: &Definition, figures: &Figures) -> Option<Unit> {
    let target = |target: &crate::tree::Target| {
        Some(TargetUse { name: target.name.clone(), platform: tables.platforms.number(target.platform?) })
    };
    let targets = definition.targets.iter().map(target).collect::<Option<_>>()?;
    let local =
        |local: &crate::tree::Local| Some(LocalDef { name: local.name.clone(), ty: local.ty.as_ref()?.to_vm(tables) });
    let locals = definition.locals.iter().map(local).collect::<Option<Vec<_>>>()?;
    let input = |(input, local): (&crate::tree::Input, &LocalDef)| Input {
        name: local.name.clone(),
        ty: local.ty.clone(),
        default: input.default.as_ref().map(|default| default.to_vm(tables)),
    };
    let inputs = definition.inputs.iter().zip(&locals).map(input).collect();
    let line = tables.sources.position(definition.place(definition.header)).line;
    Some(Unit {
        kind: definition.kind,
        name: definition.name.clone(),
        doc: definition.doc.clone(),
        file: tables.files.number(definition.file),
        line,
        targets,
        inputs,
        locals,
        policy: Given::of(definition.retry.as_ref()).policy(),
        code: Vec::new(),
        source: Vec::new(),
        exprs: Vec::new(),
        durations: Vec::new(),
        texts: Vec::new(),
        sends: Vec::new(),
        expects: Vec::new(),
        asks: Vec::new(),
        transfers: Vec::new(),
        notes: Vec::new(),
        loops: Vec::new(),
        steps: Vec::new(),
        calls: Vec::new(),
        claims: figures.claims?,
    })
}
