//! The binary `stellar`, as the tests of the whole system build it.

fn main() -> std::process::ExitCode {
    stellar_cli::main()
}
