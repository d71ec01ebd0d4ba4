//! A table of goodputs over buffer and loss, committed as text: a reviewer sees the physics change.
//!
//! To accept a change on purpose, run with `COGTCP_UPDATE_SNAPSHOTS=1` and enter it in CHANGELOG "Changed
//! results".

use crate::support::*;
use std::fmt::Write;

#[test]
fn goodput_over_buffer_and_loss() {
    let mut table = String::from(
        "Goodput in Mbit/s of one saturated flow, 1000-byte segments, 10 Mbit/s, 30 ms one way, 100 s after 20 s of warm-up, \
         seed 1.\nA bandwidth-delay product is 72 packets.\n",
    );
    for transport in ["tahoe", "reno", "newreno", "sack"] {
        let _ = write!(table, "\n{transport:<10} loss    0 %   0.01 %    0.1 %      1 %      5 %\n");
        for buffer in [5, 20, 80, 320] {
            let _ = write!(table, "{buffer:>6} packets  ");
            for loss in ["0 %", "0.01 %", "0.1 %", "1 %", "5 %"] {
                let link = format!(
                    r#"rate = "10 Mbit/s", delay = "30 ms", queue = "{buffer} packets", loss = "{loss}", reverse_loss = "0 %""#
                );
                let run = run_text(&single_hop("120 s", "20 s", transport, &link, ""));
                let _ = write!(table, "{:>7.3}  ", first(&run.flows, "goodput_bps") / 1e6);
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/goodput.txt");
    if std::env::var_os("COGTCP_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(table, committed, "results changed; see this file's head");
}
