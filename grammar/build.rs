//! Makes the parser from `stellar.lalrpop`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lalrpop::Configuration::new()
        .set_out_dir(std::env::var("OUT_DIR")?)
        .emit_rerun_directives(true)
        .process_file("stellar.lalrpop")
}
