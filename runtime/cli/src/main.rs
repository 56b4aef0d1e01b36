//! The binary `stellar`.

fn main() -> std::process::ExitCode {
    stellar_cli::main()
}
