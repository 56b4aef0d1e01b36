use std::sync::Mutex;

use super::*;

const SECOND: i64 = 1_000_000_000;
const START: Instant = Instant { ns: 1_790_000_000 * SECOND, scale: Scale::Utc };

fn log() -> Arc<Mutex<Vec<(&'static str, i64)>>> {
    Arc::default()
}

#[tokio::test(start_paused = true)]
async fn virtual_sleeps_end_at_the_very_nanosecond_and_in_order() {
    let clock = Clock::virtual_from(START);
    let log = log();
    let mut tasks = Vec::new();
    for (name, ns) in [("b", 3_600 * SECOND + 1), ("a", 1), ("c", 3_600 * SECOND + 2)] {
        let (clock, log) = (clock.clone(), Arc::clone(&log));
        tasks.push(tokio::spawn(async move {
            clock.sleep_until(START.after(ns), Phase::Run).await;
            log.lock().unwrap().push((name, clock.now().since(START)));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let woken = log.lock().unwrap().clone();
    assert_eq!(woken, [("a", 1), ("b", 3_600 * SECOND + 1), ("c", 3_600 * SECOND + 2)]);
    assert_eq!(clock.utc_now(), clock.now());
}

#[tokio::test(start_paused = true)]
async fn at_one_instant_links_come_first_and_all_that_follows_from_them() {
    let clock = Clock::virtual_from(START);
    let log = log();
    let at = START.after(SECOND);
    let (to_run, mut from_link) = tokio::sync::mpsc::unbounded_channel();
    let run = {
        let (clock, log) = (clock.clone(), Arc::clone(&log));
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = clock.sleep_until(at, Phase::Run) => log.lock().unwrap().push(("deadline", clock.now().ns - at.ns)),
                Some(()) = from_link.recv() => log.lock().unwrap().push(("fact", clock.now().ns - at.ns)),
            }
        })
    };
    tokio::task::yield_now().await;
    let link = {
        let clock = clock.clone();
        tokio::spawn(async move {
            clock.sleep_until(at, Phase::Link).await;
            // A second sleep of the link at the same instant still comes before the run's.
            clock.sleep_until(at, Phase::Link).await;
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            to_run.send(()).unwrap();
        })
    };
    link.await.unwrap();
    run.await.unwrap();
    assert_eq!(*log.lock().unwrap(), [("fact", 0)]);
}

#[tokio::test(start_paused = true)]
async fn virtual_time_stands_still_while_another_thread_works() {
    let clock = Clock::virtual_from(START);
    let busy = clock.busy();
    let also = busy.clone();
    let (done, finished) = tokio::sync::oneshot::channel();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::spawn(move || {
        gone.recv().unwrap();
        done.send(()).unwrap();
    });
    let sleeper = {
        let clock = clock.clone();
        tokio::spawn(async move {
            clock.sleep_until(START.after(1), Phase::Link).await;
        })
    };
    // Far more idle rounds than the advancer needs.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(clock.now(), START);
    go.send(()).unwrap();
    finished.await.unwrap();
    worker.join().unwrap();
    drop(busy);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(clock.now(), START, "one of two guards is left");
    drop(also);
    sleeper.await.unwrap();
    assert_eq!(clock.now(), START.after(1));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_sleep_moves_nothing_and_a_past_one_ends_now() {
    let clock = Clock::virtual_from(START);
    drop(clock.sleep_until(START.after(10), Phase::Link));
    clock.sleep_until(START.after(-5), Phase::Run).await;
    assert_eq!(clock.now(), START);
    clock.sleep_until(START.after(20), Phase::Run).await;
    assert_eq!(clock.now(), START.after(20));
}

#[tokio::test]
async fn real_sleeps_never_end_early_and_the_first_ends_first() {
    let clock = Clock::real(Scale::Utc).unwrap();
    let start = clock.now();
    assert!(start.since(clock.utc_now()).abs() < SECOND);
    let long = tokio::spawn({
        let clock = clock.clone();
        async move {
            clock.sleep_until(start.after(3_600 * SECOND), Phase::Run).await;
        }
    });
    for ns in [20_000_000, 5_000_000, -SECOND] {
        let due = start.after(ns);
        clock.sleep_until(due, Phase::Run).await;
        assert!(clock.now() >= due);
    }
    assert!(clock.now().since(start) < 60 * SECOND);
    assert!(!long.is_finished());
    long.abort();
}

#[test]
fn real_time_never_goes_back_across_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let clock = Clock::real(Scale::Tai).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let clock = clock.clone();
                std::thread::spawn(move || {
                    let mut before = clock.now();
                    for _ in 0..10_000 {
                        let now = clock.now();
                        assert!(now >= before);
                        before = now;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn scales_differ_by_the_leap_seconds_of_their_day() {
    let at = |text: &str| text.parse::<Instant>().unwrap();
    for (utc, tai, gps) in [
        ("2026-10-02T10:15:00.000000001Z", "2026-10-02T10:15:37.000000001 TAI", "2026-10-02T10:15:18.000000001 GPS"),
        ("2016-12-31T23:59:59Z", "2017-01-01T00:00:35 TAI", "2017-01-01T00:00:16 GPS"),
        ("2017-01-01T00:00:00Z", "2017-01-01T00:00:37 TAI", "2017-01-01T00:00:18 GPS"),
        ("1980-01-06T00:00:00Z", "1980-01-06T00:00:19 TAI", "1980-01-06T00:00:00 GPS"),
    ] {
        let ns = at(utc).ns;
        assert_eq!(from_utc(ns, Scale::Utc), at(utc));
        assert_eq!(from_utc(ns, Scale::Tai), at(tai));
        assert_eq!(from_utc(ns, Scale::Gps), at(gps));
        assert_eq!(to_utc(at(tai)), at(utc));
        assert_eq!(to_utc(at(gps)), at(utc));
    }
}
