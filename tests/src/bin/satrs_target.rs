//! `satrs-target`: the target of the `ccsds` tests. It ends at SIGTERM, or when its standard input closes.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::thread;

use clap::Parser;
use stellar_tests::satrs_target::{process::LISTENING, server::Server};

/// The PUS services 1 and 17 of the crate `satrs` behind a UDP socket.
#[derive(Parser)]
struct Arguments {
    /// The loopback address to take telecommands at; port 0 lets the system choose. It is printed.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server::bind(Arguments::parse().listen)?;
    writeln!(io::stdout(), "{LISTENING}{}", server.address()?)?;
    io::stdout().flush()?;
    thread::spawn(exit_with_stdin);
    loop {
        server.turn()?;
    }
}

/// Ends the process at the end of its input, so that a test that died never leaves it behind.
fn exit_with_stdin() {
    let mut sink = [0; 64];
    while matches!(io::stdin().read(&mut sink), Ok(1..)) {}
    std::process::exit(0);
}
