//! `stellar log RUN`.

use std::io;

use super::event_of;
use crate::{
    args::{Format, Global, Log},
    exit::{Exit, Failure},
    look::{self, Look, block_on},
    mission::Mission,
    output,
    render::Render,
};

/// Prints the events of a run; with `--follow` what comes as well, to the end of the run or of its process.
pub(super) fn log(args: &Log, global: &Global) -> Result<Exit, Failure> {
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    block_on(async {
        let look = Look::at(&mission.store()).await?;
        let run = look.find(&args.run).await?;
        let mut render = Render::new(output::colored(global.color, &io::stdout()));
        if args.follow
            && let Look::Beside(client) = &look
        {
            let mut events = client.events(&run, 1).await.map_err(look::client)?;
            while let Some(line) = events.next().await.map_err(look::client)? {
                print(&line.text, args.format, &mut render)?;
            }
            return Ok(Exit::Done);
        }
        for line in look.log(&run).await? {
            print(&line, args.format, &mut render)?;
        }
        Ok(Exit::Done)
    })
}

fn print(line: &str, format: Format, render: &mut Render) -> Result<(), Failure> {
    match format {
        Format::Json => output::print(&format!("{line}\n")),
        Format::Text => output::print(&format!("{}\n", render.event(&event_of(line)?))),
    }
}
